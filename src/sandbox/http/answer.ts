import type { ServerResponse } from 'node:http';
import type { InvoiceRecord, MerchantRecord } from '../store.ts';

/** All error codes of the sandbox; `docs/sandbox.openapi.json` lists the same codes. */
export const ERROR_CODES = [
  'api_key_refused',
  'body_too_large',
  'body_unreadable',
  'content_type_unsupported',
  'field_invalid',
  'field_missing',
  'field_unknown',
  'idempotency_in_progress',
  'idempotency_key_invalid',
  'idempotency_mismatch',
  'internal_error',
  'invoice_not_found',
  'merchant_exists',
  'merchant_not_found',
  'merchant_refused',
  'method_not_allowed',
  'query_invalid',
  'rate_limited',
  'route_not_found',
] as const;

/** An answer that is ready to send. `body` is its text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns the answer of the fault `stored500`. */
export function storedErrorAnswer(): Answer {
  const message = 'The service failed. This answer is kept under the Idempotency-Key.';
  return new Refusal(500, 'internal_error', message).answer;
}

/** Returns an answer with this JSON text. */
export function jsonAnswer(status: number, body: string, headers: Answer['headers'] = {}): Answer {
  return { status, body, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers } };
}

interface ErrorDetails {
  /** The path of the faulty field of the request, such as `lines[0].quantity`. */
  readonly field?: string;
  readonly headers?: Answer['headers'];
}

/** Refuses a request with `{ "error": { "code", "message", "field"? } }`; the message begins with the field's path. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(status: number, code: (typeof ERROR_CODES)[number], message: string, details: ErrorDetails = {}) {
    super('The request is refused');
    const { field, headers } = details;
    const error = field === undefined ? { code, message } : { code, message: `${field}: ${message}`, field };
    this.answer = jsonAnswer(status, JSON.stringify({ error }), headers);
  }
}

/** Returns the POST's answer: always `processing`, so that a repeated request gets the same bytes. */
export function createdInvoiceAnswer({ id, createdAt, body }: InvoiceRecord): Answer {
  return jsonAnswer(201, withBody({ id, status: 'processing', created_at: isoTime(createdAt) }, body));
}

/** Returns the current state of the invoice. */
export function invoiceAnswer({ id, status, error, createdAt, settledAt, body }: InvoiceRecord): Answer {
  const settled_at = settledAt === null ? undefined : isoTime(settledAt);
  const head = { id, status, created_at: isoTime(createdAt), settled_at, error: error ?? undefined };
  return jsonAnswer(200, withBody(head, body));
}

/** Returns the POST's answer with a merchant. */
export function merchantAnswer(merchant: MerchantRecord): Answer {
  return jsonAnswer(201, merchantJson(merchant));
}

/** Returns one merchant as JSON text. */
export function merchantJson({ id, createdAt, body }: MerchantRecord): string {
  return withBody({ id, created_at: isoTime(createdAt) }, body);
}

/** Puts the service's fields before the client's text and leaves that text unchanged, so that no decimal is rounded. */
function withBody(head: object, body: string): string {
  return `${JSON.stringify(head).slice(0, -1)},${body.trim().slice(1)}`;
}

/** Converts epoch milliseconds to ISO 8601 text in UTC. */
export function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Returns the answer of a proxy in front of a service that is down; it is not JSON. */
export function outageAnswer(retryAfterSeconds: number): Answer {
  return {
    status: 503,
    body: '<!doctype html><title>503 Service Unavailable</title><h1>Service Unavailable</h1>',
    headers: { 'Content-Type': 'text/html; charset=utf-8', 'Retry-After': String(retryAfterSeconds) },
  };
}

/** Sends an answer in one piece. */
export function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const { status, headers, body } = answer;
  response.writeHead(status, { 'Content-Length': Buffer.byteLength(body), ...headers }).end(body);
}
