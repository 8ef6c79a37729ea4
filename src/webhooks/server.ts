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
  type ReceiverLog,
} from './handle-delivery.ts';
import { createDeliveryStore } from './delivery-groups.ts';
import { createEventReader, type ReceiverShapes } from './event-reader.ts';
import { createByteBudget } from './read-body.ts';
import { createDeliveryFindings, type DeliveryFindingsOptions } from './delivery-findings.ts';
import { createReceiverRoutes, WEBHOOK_PATH, type ReceiverAnswer, type ReceiverRoutes } from './receiver-routes.ts';

import { createSignatureCheck } from './signature-check.ts';
import type { Readiness } from '../domain/records/readiness.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { RecordDelivery } from '../ledger/webhooks/deliveries.ts';

const READY: Readiness = { status: 'ready', parts: {} };

/** An event of one invoice has only a few hundred bytes. */
const BODY_LIMIT = 256 * 1024;
/** The limit if one delivery holds many events. */
const LIST_BODY_LIMIT = 1024 * 1024;

/** The limit of all bodies together: 128 of the largest size, tens of thousands of real ones. */
const MEMORY_LIMIT = 32 * 1024 * 1024;

/** Each connection costs a file descriptor and some kilobytes. A service delivers over a few dozen connections. */
const MAX_CONNECTIONS = 500;

/** In milliseconds. The server ends a request that has not arrived in time as a slow loris. */
export interface ReceiverTimeouts {
  readonly headers: number;
  readonly request: number;
  /** How often Node looks for late requests. */
  readonly check: number;
}

const TIMEOUTS: ReceiverTimeouts = { headers: 5_000, request: 15_000, check: 1_000 };

/** The address at which the server listens, and its timeouts. */
interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly log: ReceiverLog;
  readonly clock?: () => number;
  readonly timeouts?: Partial<ReceiverTimeouts>;
}

/** How deliveries prove their sender, and where the receiver stores them. */
export interface EndpointOptions {
  readonly ledger: Pick<Ledger, 'storeDeliveries'>;
  /** Read again every few seconds, and if no known secret fits, so that a new secret counts without a restart. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly shapes: ReceiverShapes;
  /** Optional: the API key of the service, which Lote hides if the reason of an event quotes it. */
  readonly apiKey?: string;
  /** The address that the service knows and may sign. Optional: the default is the address of the receiver. */
  readonly registeredUrl?: string | null;
  /** Optional: the ledger and application of the receiver, which a GET returns in a header. */
  readonly identity?: string;
  /** Optional: returns false when the receiver must answer 503 so that the sender retries. */
  readonly accept?: DeliveryHandlerParts['accept'];
  /** Called after the commit, beside the answers, to apply the stored deliveries. */
  readonly onStored: (deliveries: readonly RecordDelivery[]) => void;
  /** Optional: says whether the receiver could store a delivery now. The default is ready. */
  readonly ready?: () => Promise<Readiness>;
  /** Optional: records that deliveries do not fit the service profile. */
  readonly note?: DeliveryFindingsOptions['note'];
  readonly maxWaiting?: number;
}

export interface ReceiverOptions extends ListenOptions, EndpointOptions {}

/** A running receiver. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Returns the counts of deliveries since the start. */
  tally(): Readonly<DeliveryCounts>;
  close(): Promise<void>;
}

/**
 * Starts to listen for deliveries. A 2xx means that the ledger has committed the delivery.
 * @throws LoteError `port-taken` when the address is in use.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { log, host, port: wanted, registeredUrl = null } = options;
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  let origin = '';
  const parts = handlerParts(options, () => registeredUrl ?? `${origin}${WEBHOOK_PATH}`);
  const routes = createReceiverRoutes(
    {
      deliver: (incoming) => handleDelivery(incoming, parts),
      ready: async () => (await options.ready?.()) ?? READY,
    },
    { registeredUrl, identity: options.identity },
  );
  const server = createServer(
    {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
    },
    (incoming, outgoing) => void answer(incoming, outgoing, { routes, log }),
  );
  server.maxConnections = MAX_CONNECTIONS;
  const what = 'Starting the webhook receiver';
  const bound = await listenOn(server, { host, port: wanted, what, variables: 'RECEIVER' });
  ({ origin } = bound);
  server.on('error', (error) =>
    log.warn('A connection could not be taken; its sender comes again', { error: codeOf(error) }),
  );
  return {
    url: `${origin}${WEBHOOK_PATH}`,
    port: bound.port,
    tally: () => parts.tally,
    async close() {
      await closeServer(server);
      await parts.store.idle();
    },
  };
}

/** Makes the parts of the handler. `url` returns the address that the service knows. */
function handlerParts(options: ReceiverOptions, url: () => string): DeliveryHandlerParts {
  const { log, shapes, note, ledger, clock: now = Date.now } = options;
  return {
    ...{ log, now },
    check: createSignatureCheck({ shape: shapes.signature, url }),
    read: createEventReader(shapes, options),
    accept: options.accept ?? (() => true),
    bodyLimit: shapes.event.items === null ? BODY_LIMIT : LIST_BODY_LIMIT,
    budget: createByteBudget(MEMORY_LIMIT),
    tally: noDeliveries(),
    secrets: createSecretCache(options.secrets, now),
    findings: note === undefined ? null : createDeliveryFindings({ note, shapes, now }),
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
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { routes, log }: { readonly routes: ReceiverRoutes; readonly log: ReceiverLog },
): Promise<void> {
  // The sender may disconnect at any time; an error of the answer then has no meaning.
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
