import type { IncomingMessage, ServerResponse } from 'node:http';
import { applicationIn, applicationOf } from '../application.ts';
import { readBooksOf } from '../books.ts';
import { reasonOf, type Call } from '../context.ts';
import type { Services } from '../settlement.ts';
import { ROUTES, type Route } from '../operations.ts';
import { jsonAnswer, outageAnswer, Refusal, send, type Answer } from './answer.ts';
import { hash } from 'node:crypto';
import type { Faults } from '../faults.ts';

interface HandlerOptions {
  readonly services: Services;
  readonly keys: readonly string[] | 'any';
  /** Counts a request, and returns true if it falls into the outage. */
  readonly isDown: () => boolean;
  /** Counts a request, and returns true if it exceeds the limit. */
  readonly isTooMany: () => boolean;
}

/** Answers one HTTP request. Logs an internal error and answers it with 500. */
export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

const ANYWHERE = 'http://sandbox.invalid';

/** Null if the connection is to be cut or was cut. */
type Result = Answer | null;

/** Creates the request handler: the sandbox's own pages come first, then the published interface with its faults. */
export function createRequestHandler({ services, keys, isDown, isTooMany }: HandlerOptions): RequestHandler {
  const { context } = services;
  const { chance, faults } = context;

  async function answerTo(request: IncomingMessage): Promise<Result> {
    const url = new URL(request.url ?? '/', ANYWHERE);
    const applicationId = applicationIn(request.headers.authorization, keys);
    if (url.pathname === '/_sandbox/health') return jsonAnswer(200, '{"status":"ok"}');
    const isOwn = url.pathname === '/_sandbox/books';
    if (!isOwn && isDown()) return outageAnswer(faults.retryAfterSeconds);
    if (applicationId === null) throw unauthorized();
    if (isOwn) return jsonAnswer(200, JSON.stringify(readBooksOf(context.applications, applicationId)));
    if (isTooMany()) throw tooMany(faults.retryAfterSeconds);
    const found = findRoute(request.method ?? '', url.pathname);
    const application = applicationOf(context.applications, applicationId);
    const call = await readCall(request, { application, ...found, query: url.searchParams });
    return call === null ? null : runWithFaults(found.route, call);
  }

  async function runWithFaults(route: Route, call: Call): Promise<Result> {
    const { application, idempotencyKey, id, body } = call;
    const subject = `${application.id} ${route.operationId} ${idempotencyKey ?? ''} ${id} ${body.sha256}`;
    const creates = route.method === 'POST' && route.operationId !== 'registerWebhook';
    if (chance.decideAgain('status429', subject)) throw tooMany(faults.retryAfterSeconds);
    if (creates && chance.decideAgain('lostBeforeCreate', subject)) return null;
    const answer = await route.run(services, call).catch(refused);
    if (creates && answer.status === 201 && chance.decideAgain('lostAfterCreate', subject)) return null;
    return answer;
  }

  return async (request, response) => {
    const result = await answerTo(request).catch((error: unknown): Result => {
      if (error instanceof Refusal) return error.answer;
      context.log.error('A request could not be answered.', { method: request.method, reason: reasonOf(error) });
      return new Refusal(500, 'internal_error', 'The sandbox failed. Its log says why.').answer;
    });
    if (result === null) request.socket.destroy();
    else send(response, result);
  };
}

function refused(error: unknown): Answer {
  if (error instanceof Refusal) return error.answer;
  throw error;
}

function unauthorized(): Refusal {
  const message = 'Authorization: expected Bearer and an API key of this sandbox.';
  return new Refusal(401, 'api_key_refused', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
}

function tooMany(retryAfterSeconds: number): Refusal {
  const headers = { 'Retry-After': String(retryAfterSeconds) };
  return new Refusal(429, 'rate_limited', 'Too many requests. Wait as long as Retry-After says.', { headers });
}

/** More than any invoice needs, and small enough that many bodies at once do not exhaust the memory. */
const BODY_LIMIT_BYTES = 256 * 1024;

/** Reads a body up to the limit. Resolves to `aborted` if the client disconnects early. */
function readBody(request: IncomingMessage): Promise<Buffer | 'too-large' | 'aborted'> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) return resolve('too-large');
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else resolve('too-large');
    });
    request.on('end', () => resolve(Buffer.concat(chunks)));
    request.on('error', () => resolve('aborted'));
    request.on('close', () => resolve('aborted'));
  });
}

const NO_BODY: Call['body'] = { text: '', sha256: '', value: undefined };
// Printable ASCII, which every HTTP library can send and every log can show.
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the data that an operation needs; null if the client disconnected. @throws Refusal */
async function readCall(
  request: IncomingMessage,
  { route, ...target }: Pick<Call, 'application' | 'id' | 'query'> & { readonly route: Route },
): Promise<Call | null> {
  const call = { ...target, path: route.path, idempotencyKey: null };
  if (route.method === 'GET') return { ...call, body: NO_BODY };
  const { 'content-type': contentType = '', 'idempotency-key': key } = request.headers;
  if (!/^application\/json\s*(?:;|$)/i.test(contentType))
    throw new Refusal(415, 'content_type_unsupported', 'Content-Type: expected application/json.');
  if (key !== undefined && (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key)))
    throw new Refusal(400, 'idempotency_key_invalid', 'Idempotency-Key: expected 1 to 255 printable characters.');
  const bytes = await readBody(request);
  if (bytes === 'aborted') return null;
  if (bytes === 'too-large') {
    const message = `The body may have ${BODY_LIMIT_BYTES} bytes at most.`;
    throw new Refusal(413, 'body_too_large', message, { headers: { Connection: 'close' } });
  }
  return { ...call, idempotencyKey: key ?? null, body: bodyOf(bytes) };
}

function bodyOf(bytes: Buffer): Call['body'] {
  try {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text), sha256: hash('sha256', bytes) };
  } catch {
    throw new Refusal(400, 'body_unreadable', 'The body must be JSON in UTF-8.');
  }
}

const ONE_INVOICE = /^\/v1\/invoices\/([^/]+)$/;

/** Returns the operation of a request with its path parameter. @throws Refusal if there is none */
function findRoute(method: string, pathname: string): { readonly route: Route; readonly id: string } {
  const id = ONE_INVOICE.exec(pathname)?.[1];
  const path = id === undefined ? pathname : '/v1/invoices/{id}';
  const there = ROUTES.filter((route) => route.path === path);
  const route = there.find((candidate) => candidate.method === method);
  if (route !== undefined) return { route, id: id ?? '' };
  if (there.length === 0) throw new Refusal(404, 'route_not_found', 'There is no such operation.');
  const Allow = there.map((candidate) => candidate.method).join(', ');
  throw new Refusal(405, 'method_not_allowed', `This address takes ${Allow}.`, { headers: { Allow } });
}

/** Creates the one outage of a run: counts a request, and true during it. It begins at a request and ends by the clock. */
export function createOutage(window: Faults['outage'], clock: () => number): () => boolean {
  let requests = 0;
  let beganAt: number | null = null;
  return () => {
    requests += 1;
    if (window === null || requests <= window.afterRequests) return false;
    beganAt ??= clock();
    return clock() - beganAt < window.lastsMs;
  };
}

/** The requests of one second may come at once, but always at least one request; refused requests do not count. */
const BURST_MS = 1_000;
/** The resolution of the clock. If only one request may come at a time, one that is early by any amount exceeds the limit. */
const SHORTEST_MS = 1;

/** Creates a limit for all applications together, or none for null. Counts a request; true if it is one too many. */
export function createRateLimit(requestsPerSecond: number | null, clock: () => number): () => boolean {
  if (requestsPerSecond === null) return () => false;
  const gap = 1_000 / requestsPerSecond;
  const tolerance = gap < BURST_MS ? BURST_MS : SHORTEST_MS;
  let nextAt = 0;
  return () => {
    const now = clock();
    const at = Math.max(nextAt, now);
    if (at - now >= tolerance) return true;
    nextAt = at + gap;
    return false;
  };
}
