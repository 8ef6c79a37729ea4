import type { IncomingMessage } from 'node:http';
import type { SignatureShape } from './signature-check.ts';
import type { Readiness } from '../domain/records/readiness.ts';

/** What a request to the receiver is told. Without a body none is sent. */
export interface ReceiverAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What answers the requests of each address. */
export interface ReceiverHandlers {
  /** `pathSecret`: the step after the receiver's own address. */
  readonly deliver: (incoming: IncomingMessage, pathSecret?: string) => Promise<ReceiverAnswer>;
  readonly ready: () => Promise<Readiness>;
}

/** What the routes depend on. */
export interface RouteOptions extends Pick<SignatureShape, 'kind'> {
  /** The address that the service has; null: that of the receiver. */
  readonly registeredUrl: string | null;
  /** Whose receiver it is, told to a GET; left out: nothing is told. */
  readonly identity?: string | undefined;
}

/** Answers a request. */
export type ReceiverRoutes = (incoming: IncomingMessage) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** Where deliveries are sent to. */
export const WEBHOOK_PATH = '/webhooks';

/** Header by which a receiver says to a GET whose it is. */
export const RECEIVER_HEADER = 'lote-receiver';

const JSON_BODY = { 'content-type': 'application/json' };
const NOT_FOUND: ReceiverAnswer = { status: 404, headers: {} };

/**
 * Finds who answers a request: `/webhooks`, the path of the registered address, and each end of it, since a proxy may cut
 * off its beginning. Paths are compared as they are written, with case and without final slashes.
 */
export function createReceiverRoutes(
  { deliver, ready }: ReceiverHandlers,
  { kind, registeredUrl, identity }: RouteOptions,
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
    const [, before = '', step = ''] = /^(.*)\/([^/]+)$/u.exec(path) ?? [];
    if (kind === 'path' && paths.has(before)) return isPost ? deliver(incoming, decoded(step)) : notAllowed('POST');
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

/** Without the query. Proxies may write the whole address (RFC 9112, absolute-form). */
function pathOf(target: string): string {
  if (!target.startsWith('/')) return URL.canParse(target) ? new URL(target).pathname : target;
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** As it is written where it is no UTF-8: no secret is, but its sender is told the same as any other. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
