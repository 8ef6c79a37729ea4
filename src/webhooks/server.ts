import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { LoteError } from '../domain/errors.ts';
import type { Readiness } from '../domain/ports/readiness.ts';
import type { RecordDelivery } from '../domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../domain/ports/ledger/ledger.ts';
import { closeServer } from '../network/close-server.ts';
import { listenOn } from '../network/listen.ts';
import { connectionsAtMost } from '../network/open-files-limit.ts';
import { handleDelivery, UNAVAILABLE, type DeliveryHandlerParts, type ReceiverLog } from './handle-delivery.ts';
import { createDeliveryGroup } from './delivery-group.ts';
import { createDeliveryTally, type DeliveryCounts } from './delivery-tally.ts';
import { createEventReader } from './event-reader.ts';
import { createByteBudget } from './read-body.ts';
import { createMisfitWatch, type MisfitBook } from './misfits/misfit-watch.ts';
import type { ReceiverShapes } from './judge-delivery.ts';
import {
  createReceiverRoutes,
  createRoutesOfSeveral,
  WEBHOOK_PATH,
  type ReceiverAnswer,
  type ReceiverRoutes,
} from './receiver-routes.ts';
import { createSecretCache, SECRETS_FRESH_MS } from './secret-cache.ts';
import { createSignatureCheck } from './signature/signature-check.ts';

const READY: Readiness = { status: 'ready', parts: {} };

/** An event of one invoice is a few hundred bytes. */
const BODY_LIMIT = 256 * 1024;
/** Where one delivery holds many events. */
const LIST_BODY_LIMIT = 1024 * 1024;

/** All bodies together: 128 of the largest, tens of thousands of real ones. */
const MEMORY_LIMIT = 32 * 1024 * 1024;

/** Each costs a file and some kilobytes; fewer where the process may open few files. A service delivers over a few dozen. */
const MAX_CONNECTIONS = 1_000;

/** In milliseconds: a request that is not here by then is a slow loris, whatever it says. */
export interface ReceiverTimeouts {
  readonly headers: number;
  readonly request: number;
  /** How often Node looks for late ones. */
  readonly check: number;
}

const TIMEOUTS: ReceiverTimeouts = { headers: 5_000, request: 15_000, check: 1_000 };

/** Where the server listens, and how patient it is. */
interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly log: ReceiverLog;
  readonly clock?: () => number;
  readonly timeouts?: Partial<ReceiverTimeouts>;
}

/** Whose deliveries come to one address, how they prove it, and where they are stored. */
export interface EndpointOptions {
  readonly ledger: Pick<Ledger, 'storeDeliveries'>;
  /** Asked again every few seconds and when no known one fits, so that a new secret counts without a restart. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly shapes: ReceiverShapes;
  /** Of the service: hidden where the reason of an event quotes it; left out: there is none to hide. */
  readonly apiKey?: string;
  /** The address that the service was given, which some services sign; left out: where the receiver listens. */
  readonly registeredUrl?: string | null;
  /** Whose receiver it is, told to a GET; left out: nothing is told. */
  readonly identity?: string;
  /** Whether deliveries may be stored now; left out: always. Of those that may not, the sender comes again. */
  readonly accept?: DeliveryHandlerParts['accept'];
  /** Gets each delivery that was judged; left out: nobody does. */
  readonly capture?: DeliveryHandlerParts['capture'];
  /** After the commit and beside the answers: the place to apply what was stored. */
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  /** Whether a delivery could be stored now; left out: nobody asks. */
  readonly ready?: () => Promise<Readiness>;
  /** Where it is written what would fit, when nothing does; left out: nowhere. */
  readonly misfits?: MisfitBook;
  readonly maxWaiting?: number;
}

export interface ReceiverOptions extends ListenOptions, EndpointOptions {}

/** One server for several applications, by name; each has the address `/webhooks/<name>`. */
export interface ReceiverOfSeveralOptions extends ListenOptions {
  readonly applications: ReadonlyMap<string, EndpointOptions>;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** What became of the deliveries since the start. */
  tally(): DeliveryCounts;
  close(): Promise<void>;
}

/**
 * Listens for deliveries. A 2xx means: committed in the ledger.
 * @throws LoteError `port-taken` when the address is in use.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  return serve(options, (shared) => {
    const endpoint = createEndpoint(options, { ...shared, path: WEBHOOK_PATH });
    return { routes: endpoint.routes, close: () => endpoint.close() };
  });
}

/**
 * Listens for the deliveries of several applications: the address says whose they are, and only that one's secrets
 * prove it.
 * @throws LoteError `port-taken` when the address is in use.
 */
export async function startReceiverOfSeveral(options: ReceiverOfSeveralOptions): Promise<Receiver> {
  return serve(options, (shared) => {
    const endpoints = [...options.applications].map(
      ([name, one]) => [name, createEndpoint(one, { ...shared, path: `${WEBHOOK_PATH}/${name}` })] as const,
    );
    return {
      routes: createRoutesOfSeveral(new Map(endpoints.map(([name, { routes }]) => [name, routes]))),
      close: async () => void (await Promise.all(endpoints.map(async ([, endpoint]) => endpoint.close()))),
    };
  });
}

/** What all endpoints of a server have in common. */
interface SharedParts extends Pick<DeliveryHandlerParts, 'tally' | 'budget' | 'log' | 'now'> {
  /** Where the server listens, without a path. */
  readonly origin: () => string;
}

interface Endpoint {
  readonly routes: ReceiverRoutes;
  close(): Promise<void>;
}

function createEndpoint(options: EndpointOptions, shared: SharedParts & { readonly path: string }): Endpoint {
  const { origin, path, ...common } = shared;
  const { log, now } = common;
  const group = createDeliveryGroup({
    store: (deliveries) => options.ledger.storeDeliveries(deliveries),
    onStored: (deliveries) => options.onStored(deliveries),
    onFailure: (error, deliveries) =>
      log.warn('Deliveries could not be recorded or announced', { deliveries, error: errorName(error) }),
    ...(options.maxWaiting !== undefined && { maxWaiting: options.maxWaiting }),
  });
  const { shapes } = options;
  const secrets = createSecretCache(options.secrets, now);
  const address = (): string => options.registeredUrl ?? `${origin()}${path}`;
  const misfits =
    options.misfits === undefined
      ? null
      : createMisfitWatch({
          ...{ book: options.misfits, shapes, now, url: address },
          secrets: async () => await secrets.get(SECRETS_FRESH_MS),
        });
  const parts: DeliveryHandlerParts = {
    ...common,
    check: createSignatureCheck({ shape: shapes.signature, url: address, log }),
    read: createEventReader(shapes, options),
    accept: options.accept ?? (() => true),
    bodyLimit: shapes.event.items === null ? BODY_LIMIT : LIST_BODY_LIMIT,
    ...{ secrets, misfits, group },
    ...(options.capture !== undefined && { capture: options.capture }),
  };
  const routes = createReceiverRoutes(
    {
      deliver: (incoming, pathSecret) => handleDelivery(incoming, parts, pathSecret),
      ready: async () => (await options.ready?.()) ?? READY,
    },
    { ...shapes.signature, path, ...(options.identity !== undefined && { identity: options.identity }) },
  );
  return {
    routes,
    async close() {
      await misfits?.close();
      await group.idle();
    },
  };
}

async function serve(options: ListenOptions, endpointsOf: (shared: SharedParts) => Endpoint): Promise<Receiver> {
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const now = options.clock ?? Date.now;
  const { log } = options;
  const tally = createDeliveryTally(now);
  let origin = '';
  const endpoint = endpointsOf({
    ...{ log, now, tally },
    budget: createByteBudget(MEMORY_LIMIT),
    origin: () => origin,
  });
  const { routes } = endpoint;
  const server = createServer(
    {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
    },
    (incoming, outgoing) => void answer(incoming, outgoing, { routes, log }),
  );
  server.maxConnections = connectionsAtMost(MAX_CONNECTIONS);
  const { host, port: wanted } = options;
  const what = 'Starting the webhook receiver';
  const bound = await listenOn(server, { host, port: wanted, what, variables: 'RECEIVER' });
  ({ origin } = bound);
  server.on('error', (error) =>
    log.warn('A connection could not be taken; its sender comes again', { error: codeOf(error) }),
  );
  return {
    url: `${origin}${WEBHOOK_PATH}`,
    port: bound.port,
    tally: () => tally.counts(),
    async close() {
      await closeServer(server);
      await endpoint.close();
    },
  };
}

interface Answering {
  readonly routes: ReceiverRoutes;
  readonly log: ReceiverLog;
}

/** No framework stands between: each delivery would pay for it, and there is one address. */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse, { routes, log }: Answering): Promise<void> {
  // The sender may leave at any time; nobody is left to hear of it then.
  outgoing.on('error', () => undefined);
  let given: ReceiverAnswer;
  try {
    given = await routes(incoming);
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
