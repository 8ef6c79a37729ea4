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

/** Code of an error answer. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** An answer that is ready to send. `body` is its text. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const NO_HEADERS: Readonly<Record<string, string>> = {};

/** Returns an answer with this JSON text. */
export function jsonAnswer(status: number, body: string): Answer {
  return { status, body, contentType: JSON_TYPE, headers: NO_HEADERS };
}

export interface ErrorDetails {
  /** The path of the faulty field of the request, such as `lines[0].quantity`. */
  readonly field?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns `{ "error": { "code", "message", "field"? } }`; the message begins with the field's path. */
export function errorAnswer(status: number, code: ErrorCode, message: string, details: ErrorDetails = {}): Answer {
  const { field, headers = NO_HEADERS } = details;
  const error = field === undefined ? { code, message } : { code, message: `${field}: ${message}`, field };
  return { status, body: JSON.stringify({ error }), contentType: JSON_TYPE, headers };
}

/** Refuses a request with an error answer. */
export class Refusal extends Error {
  readonly answer: Answer;

  constructor(...answer: Parameters<typeof errorAnswer>) {
    super('The request is refused');
    this.answer = errorAnswer(...answer);
  }
}

/** Returns the answer of a refusal. @throws any other error */
export function refusalAnswer(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer;
  throw error;
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

/** Returns an answer with one merchant. */
export function merchantAnswer(status: number, merchant: MerchantRecord): Answer {
  return jsonAnswer(status, merchantJson(merchant));
}

/** Returns one merchant as JSON text. */
export function merchantJson({ id, createdAt, body }: MerchantRecord): string {
  return withBody({ id, created_at: isoTime(createdAt) }, body);
}

/**
 * Puts the service's fields before the client's text and leaves that text unchanged, so that its decimals are never
 * rounded.
 */
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
    contentType: 'text/html; charset=utf-8',
    headers: { 'Retry-After': String(retryAfterSeconds) },
  };
}

/** Sends an answer in one piece. */
export function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  writeHead(response, answer);
  response.end(answer.body);
}

// With this many pieces, a client receives bytes all the time, and no single piece completes the answer early.
const PIECES = 20;

/** Sends an answer's body in small pieces, spread over `overMs` (fault `slowDrip`). */
export async function drip(response: ServerResponse, answer: Answer, overMs: number): Promise<void> {
  writeHead(response, answer);
  const bytes = Buffer.from(answer.body);
  const size = Math.max(1, Math.ceil(bytes.length / PIECES));
  for (let from = 0; from < bytes.length && !response.destroyed; from += size) {
    response.write(bytes.subarray(from, from + size));
    await new Promise((resolve) => setTimeout(resolve, overMs / PIECES));
  }
  response.end();
}

function writeHead(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, {
    'Content-Type': answer.contentType,
    'Content-Length': Buffer.byteLength(answer.body),
    ...answer.headers,
  });
}
