import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Application } from '../application.ts';
import { type Answer, errorAnswer } from './answer.ts';
import type { Route } from './routes.ts';
import type { Dialect } from '../dialect/dialect.ts';
import type { Call } from '../operations/operation.ts';
import { problemAnswer } from '../operations/problem-answer.ts';

/** More than any invoice needs, and little enough that a flood of bodies is not a flood of memory. */
const BODY_LIMIT_BYTES = 256 * 1024;

type BodyRead =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away before the body's end. */
  | { readonly kind: 'aborted' };

/** Reads a request's body up to the limit. */
function readBody(request: IncomingMessage): Promise<BodyRead> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) {
      resolve({ kind: 'too-large' });
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT_BYTES) chunks.push(chunk);
      else resolve({ kind: 'too-large' });
    });
    request.on('end', () => {
      const [only] = chunks;
      resolve({ kind: 'read', bytes: chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks) });
    });
    request.on('error', () => resolve({ kind: 'aborted' }));
    request.on('close', () => resolve({ kind: 'aborted' }));
  });
}

export interface CallTarget {
  readonly application: Application;
  readonly route: Route;
  readonly id: string;
  readonly query: URLSearchParams;
}

export type CallRead =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'refused'; readonly answer: Answer }
  | { readonly kind: 'aborted' };

const NO_BODY: Call['body'] = { text: '', sha256: '', value: undefined };
// Printable ASCII: what every HTTP library can send and every log can show.
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Reads what an operation needs from a request, or says what is wrong with it. */
export async function readCall(request: IncomingMessage, target: CallTarget, dialect: Dialect): Promise<CallRead> {
  const { application, route, id, query } = target;
  const call = { application, path: route.path, query, id, idempotencyKey: null };
  const head = dialect.refuseHead(request.headers, route);
  if (head !== null) return { kind: 'refused', answer: head };
  if (route.method === 'GET') return { kind: 'call', call: { ...call, body: NO_BODY } };
  const { 'idempotency-key': key } = request.headers;
  if (key !== undefined && (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))) {
    return refused(400, 'idempotency_key_invalid', 'Idempotency-Key: expected 1 to 255 printable characters.');
  }
  const read = await readBody(request);
  if (read.kind === 'aborted') return { kind: 'aborted' };
  if (read.kind === 'too-large') {
    const message = `The body may have ${BODY_LIMIT_BYTES} bytes at most.`;
    return refused(413, 'body_too_large', message, { Connection: 'close' });
  }
  const body = bodyOf(read.bytes);
  if (body === null) return refused(400, 'body_unreadable', 'The body must be JSON in UTF-8.');
  const understood = dialect.readBody(body, route);
  if ('code' in understood) return { kind: 'refused', answer: problemAnswer(understood) };
  return { kind: 'call', call: { ...call, idempotencyKey: key ?? null, ...understood } };
}

function bodyOf(bytes: Buffer): Call['body'] | null {
  try {
    const text = decoder.decode(bytes);
    return { text, value: JSON.parse(text), sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch {
    return null;
  }
}

function refused(
  status: number,
  code: Parameters<typeof errorAnswer>[1],
  message: string,
  headers: Readonly<Record<string, string>> = {},
): CallRead {
  return { kind: 'refused', answer: errorAnswer(status, code, message, { headers }) };
}
