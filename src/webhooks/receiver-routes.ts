import type { IncomingMessage } from 'node:http';
import type { Readiness } from '../domain/ports/readiness.ts';
import type { SignatureShape } from './signature/request-head.ts';

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
  /** Whose receiver it is, told to a GET; left out: nothing is told. */
  readonly identity?: string;
  /** Where deliveries are sent to; default `/webhooks`. */
  readonly path?: string;
}

/** Finds who answers a request. */
export type ReceiverRoutes = (incoming: IncomingMessage) => ReceiverAnswer | Promise<ReceiverAnswer>;

/** Where deliveries are sent to. */
export const WEBHOOK_PATH = '/webhooks';

/** Header by which a receiver says to a GET whose it is. */
export const RECEIVER_HEADER = 'lote-receiver';

const JSON_BODY = { 'content-type': 'application/json' };
const NOT_FOUND: ReceiverAnswer = { status: 404, headers: {} };

/** Finds who answers a request: few addresses, compared as they are written, with case and without a final slash. */
export function createReceiverRoutes(
  { deliver, ready }: ReceiverHandlers,
  { kind, identity, path: own = WEBHOOK_PATH }: RouteOptions,
): ReceiverRoutes {
  const known = identity === undefined ? {} : { [RECEIVER_HEADER]: identity };
  return (incoming) => {
    const path = pathOf(incoming.url ?? '/');
    if (path === own) return incoming.method === 'POST' ? deliver(incoming) : notAllowed('POST', known);
    const health = HEALTH.get(path);
    if (health !== undefined) {
      if (incoming.method !== 'GET' && incoming.method !== 'HEAD') return notAllowed('GET, HEAD');
      return health(ready);
    }
    const secret = kind === 'path' ? decoded(stepAfter(own, path)) : undefined;
    if (secret === undefined) return NOT_FOUND;
    return incoming.method === 'POST' ? deliver(incoming, secret) : notAllowed('POST');
  };
}

/** The receiver of several applications: each has its own address, `/webhooks/<name>`, and nobody answers for another. */
export function createRoutesOfSeveral(applications: ReadonlyMap<string, ReceiverRoutes>): ReceiverRoutes {
  const [first] = applications.values();
  return (incoming) => {
    const path = pathOf(incoming.url ?? '/');
    const name = path.startsWith(`${WEBHOOK_PATH}/`) ? path.slice(WEBHOOK_PATH.length + 1).split('/')[0] : undefined;
    const routes = name === undefined && HEALTH.has(path) ? first : applications.get(name ?? '');
    return routes === undefined ? NOT_FOUND : routes(incoming);
  };
}

function stepAfter(own: string, path: string): string | undefined {
  const step = path.startsWith(`${own}/`) ? path.slice(own.length + 1) : '';
  return step === '' || step.includes('/') ? undefined : step;
}

type Health = (ready: () => Promise<Readiness>) => ReceiverAnswer | Promise<ReceiverAnswer>;

const HEALTH: ReadonlyMap<string, Health> = new Map<string, Health>([
  ['/health/live', () => ({ status: 200, headers: JSON_BODY, body: JSON.stringify({ status: 'live' }) })],
  ['/health', readiness],
  ['/health/ready', readiness],
]);

async function readiness(ready: () => Promise<Readiness>): Promise<ReceiverAnswer> {
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
function decoded(step: string | undefined): string | undefined {
  try {
    return step === undefined ? undefined : decodeURIComponent(step);
  } catch {
    return step;
  }
}
