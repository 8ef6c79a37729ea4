import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LoteError } from '../domain/errors.ts';
import { closeServer, listenOn } from '../platform/listen.ts';
import {
  createSecretCache,
  handleDelivery,
  noDeliveries,
  UNAVAILABLE,
  type DeliveryCounts,
  type DeliveryHandlerParts,
  type ReceiverAnswer,
} from './handle-delivery.ts';
import { createDeliveryStore } from './delivery-groups.ts';
import { createEventReader, type ReceiverShapes } from './event-reader.ts';
import { createByteBudget } from './read-body.ts';
import { createDeliveryFindings, type DeliveryFindingsOptions } from './delivery-findings.ts';
import type { Readiness } from '../domain/records/readiness.ts';
import { createSignatureCheck } from './signature-check.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

/** An event of one invoice has only a few hundred bytes. */
const BODY_LIMIT = 256 * 1024;
/** The limit if one delivery holds many events. */
const LIST_BODY_LIMIT = 1024 * 1024;

/** The limit of all bodies together: 128 of the largest size, tens of thousands of real ones. */
const MEMORY_LIMIT = 32 * 1024 * 1024;

/** Each connection costs a file descriptor and some kilobytes. A service delivers over a few dozen connections. */
const MAX_CONNECTIONS = 500;

/** In milliseconds. The server ends a late request, which may be an attack by slow sending; Node looks for late requests every `check`. */
const TIMEOUTS = { headers: 5_000, request: 15_000, check: 1_000 };

/** Where a receiver listens, how deliveries prove their sender, and where the receiver stores them. */
export interface ReceiverOptions extends RouteOptions, Pick<DeliveryHandlerParts, 'log' | 'accept'> {
  readonly host: string;
  readonly port: number;
  readonly clock?: () => number;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
  readonly ledger: Pick<Ledger, 'storeDeliveries'>;
  /** Read again every few seconds, and if no known secret fits, so that a new secret counts without a restart. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly shapes: ReceiverShapes;
  /** Optional: the API key of the service, which Lote hides if the reason of an event quotes it. */
  readonly apiKey?: string;
  /** Called after the commit, while the answers are sent, to apply the stored deliveries. */
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  readonly note: DeliveryFindingsOptions['note'];
  readonly maxWaiting?: number;
}

/** A running receiver. */
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/**
 * Starts to listen for deliveries. A 2xx means that the ledger has committed the delivery.
 * @throws LoteError `port-taken` when the address is in use.
 */
export async function startReceiver(options: ReceiverOptions) {
  const { log, host, port, registeredUrl } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  let origin = '';
  const parts = handlerParts(options, () => registeredUrl ?? `${origin}${WEBHOOK_PATH}`);
  const routes = createReceiverRoutes((incoming) => handleDelivery(incoming, parts), options);
  const server = createServer(
    {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
    },
    (incoming, outgoing) => void answer(outgoing, async () => routes(incoming), log),
  );
  server.maxConnections = MAX_CONNECTIONS;
  const what = 'Starting the webhook receiver';
  ({ origin } = await listenOn(server, { host, port, what, variables: 'RECEIVER' }));
  server.on('error', (error) =>
    log.warn('A connection could not be taken; its sender comes again', { error: codeOf(error) }),
  );
  return {
    url: `${origin}${WEBHOOK_PATH}`,
    /** Returns the counts of deliveries since the start. */
    tally: (): Readonly<DeliveryCounts> => parts.tally,
    async close(): Promise<void> {
      await closeServer(server);
      await parts.store.idle();
    },
  };
}

/** Makes the parts of the handler. `url` returns the address that the service knows. */
function handlerParts(options: ReceiverOptions, url: () => string): DeliveryHandlerParts {
  const { log, accept, shapes, note, ledger, clock: now = Date.now } = options;
  return {
    ...{ log, accept, now },
    check: createSignatureCheck(shapes.signature, url),
    read: createEventReader(shapes, options),
    bodyLimit: shapes.event.items === null ? BODY_LIMIT : LIST_BODY_LIMIT,
    budget: createByteBudget(MEMORY_LIMIT),
    tally: noDeliveries(),
    secrets: createSecretCache(options.secrets, now),
    findings: createDeliveryFindings({ note, shapes, now }),
    store: createDeliveryStore({
      store: (deliveries) => ledger.storeDeliveries(deliveries),
      onStored: (deliveries) => options.onStored(deliveries),
      onFailure: (error, deliveries) =>
        log.warn('Deliveries could not be recorded or announced', { deliveries, error: errorName(error) }),
      maxWaiting: options.maxWaiting,
    }),
  };
}

/** Answers a request without a web framework: each delivery would pay for one, and there is only one address. */
async function answer(
  outgoing: ServerResponse,
  find: () => Promise<ReceiverAnswer>,
  log: ReceiverOptions['log'],
): Promise<void> {
  // The sender may disconnect at any time; an error of the answer then has no meaning.
  outgoing.on('error', () => undefined);
  let given: ReceiverAnswer;
  try {
    given = await find();
  } catch (error) {
    log.warn('A delivery could not be handled', { error: errorName(error) });
    given = UNAVAILABLE;
  }
  outgoing.writeHead(given.status, given.headers).end(given.body);
}

function codeOf(error: Error): string {
  return (error as NodeJS.ErrnoException).code ?? error.name;
}

/** Messages of database errors quote values; names and codes do not. */
function errorName(error: unknown): string {
  if (error instanceof LoteError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

/** The settings of the routes. */
interface RouteOptions {
  /** The address that the service knows and may sign; null: the address of the receiver. */
  readonly registeredUrl: string | null;
  /** The ledger and application of the receiver, which a GET returns in a header. */
  readonly identity: string;
  /** Says whether the receiver could store a delivery now. */
  readonly ready: () => Promise<Readiness>;
}

/** The path to which the service sends deliveries. */
const WEBHOOK_PATH = '/webhooks';

/** The header in which a receiver answers a GET with its identity. */
export const RECEIVER_HEADER = 'lote-receiver';

const JSON_BODY = { 'content-type': 'application/json' };
const NOT_FOUND: ReceiverAnswer = { status: 404, headers: {} };

/**
 * Makes the routes. Deliveries go to `/webhooks`, to the path of the registered address, and to each ending of that
 * path, because a proxy may cut off its beginning. Paths are compared as written, with case and without final slashes.
 */
function createReceiverRoutes(
  deliver: (incoming: IncomingMessage) => Promise<ReceiverAnswer>,
  { registeredUrl, identity, ready }: RouteOptions,
) {
  const paths = pathsOf(registeredUrl);
  return (incoming: IncomingMessage): ReceiverAnswer | Promise<ReceiverAnswer> => {
    const path = withoutFinalSlashes(pathOf(incoming.url ?? '/'));
    const isPost = incoming.method === 'POST';
    if (isPost && paths.has(path)) return deliver(incoming);
    const isRead = incoming.method === 'GET' || incoming.method === 'HEAD';
    if (HEALTH.has(path)) return isRead ? health(path, ready) : { status: 405, headers: { allow: 'GET, HEAD' } };
    const isKnown = paths.has(path);
    return isKnown ? { status: 405, headers: { allow: 'POST', [RECEIVER_HEADER]: identity } } : NOT_FOUND;
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

/** Returns the path without the query. A proxy may send the whole address (RFC 9112, absolute-form). */
function pathOf(target: string): string {
  if (!target.startsWith('/')) return URL.canParse(target) ? new URL(target).pathname : target;
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}
