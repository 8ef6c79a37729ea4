import type { IncomingMessage } from 'node:http';
import type { Readiness } from '../domain/records/readiness.ts';

/** The receiver's answer to a request. The body is optional. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The handlers behind the routes. */
export interface ReceiverHandlers {
  readonly deliver: (incoming: IncomingMessage) => Promise<ReceiverAnswer>;
  readonly ready: () => Promise<Readiness>;
}

/** The settings of the routes. */
export interface RouteOptions {
  /** The address that the service knows; null: the address of the receiver. */
  readonly registeredUrl: string | null;
  /** Optional: the ledger and application of the receiver, which a GET returns in a header. */
  readonly identity?: string | undefined;
}

/** Answers a request. */
export type ReceiverRoutes = (incoming: IncomingMessage) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** The path to which the service sends deliveries. */
export const WEBHOOK_PATH = '/webhooks';

/** The header in which a receiver answers a GET with its identity. */
export const RECEIVER_HEADER = 'lote-receiver';

const JSON_BODY = { 'content-type': 'application/json' };
const NOT_FOUND: ReceiverAnswer = { status: 404, headers: {} };

/**
 * Makes the routes. Deliveries go to `/webhooks`, to the path of the registered address, and to each end of that path,
 * because a proxy may cut off its beginning. Paths are compared as written, with case and without final slashes.
 */
export function createReceiverRoutes(
  { deliver, ready }: ReceiverHandlers,
  { registeredUrl, identity }: RouteOptions,
): ReceiverRoutes {
  const known = identity === undefined ? {} : { [RECEIVER_HEADER]: identity };
  const paths = pathsOf(registeredUrl);
  return (incoming) => {
    const path = withoutFinalSlashes(pathOf(incoming.url ?? '/'));
    const isPost = incoming.method === 'POST';
    if (isPost && paths.has(path)) return deliver(incoming);
    const isRead = incoming.method === 'GET' || incoming.method === 'HEAD';
    if (HEALTH.has(path)) return isRead ? health(path, ready) : notAllowed('GET, HEAD');
    if (paths.has(path)) return notAllowed('POST', known);
    return NOT_FOUND;
  };
}

function pathsOf(registeredUrl: string | null): ReadonlySet<string> {
  const registered = registeredUrl === null ? WEBHOOK_PATH : new URL(registeredUrl).pathname;
  const steps = withoutFinalSlashes(registered).split('/').slice(1);
  const ends = steps.map((_, at) => `/${steps.slice(at).join('/')}`);
  return new Set([WEBHOOK_PATH, ...(steps.length === 0 ? [''] : ends)]);
}

function withoutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

const HEALTH: ReadonlySet<string> = new Set(['/health/live', '/health', '/health/ready']);

async function health(path: string, ready: () => Promise<Readiness>): Promise<ReceiverAnswer> {
  if (path === '/health/live') return { status: 200, headers: JSON_BODY, body: JSON.stringify({ status: 'live' }) };
  const found = await ready();
  return { status: found.status === 'ready' ? 200 : 503, headers: JSON_BODY, body: JSON.stringify(found) };
}

function notAllowed(allow: string, more: Readonly<Record<string, string>> = {}): ReceiverAnswer {
  return { status: 405, headers: { allow, ...more } };
}

/** Returns the path without the query. A proxy may send the whole address (RFC 9112, absolute-form). */
function pathOf(target: string): string {
  if (!target.startsWith('/')) return URL.canParse(target) ? new URL(target).pathname : target;
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
