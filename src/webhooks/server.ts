import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LoteError } from '../domain/errors.ts';
import type { Readiness } from '../domain/ports/readiness.ts';
import type { Ledger, RecordDelivery } from '../domain/ports/ledger.ts';
import {
  handleDelivery,
  unavailable,
  type Bindings,
  type DeliveryHandlerParts,
  type ReceiverLog,
} from './handle-delivery.ts';
import { createDeliveryGroup } from './delivery-group.ts';
import { createDeliveryTally, type DeliveryCounts } from './delivery-tally.ts';
import { createEventReader } from './event-reader.ts';
import { createByteBudget } from './read-body.ts';
import { createMisfitWatch, type MisfitBook } from './misfits/misfit-watch.ts';
import type { ReceiverShapes } from './judge-delivery.ts';
import { createSecretCache, SECRETS_FRESH_MS } from './secret-cache.ts';
import { createSignatureCheck } from './signature/signature-check.ts';

const READY: Readiness = { status: 'ready', parts: {} };
const WEBHOOK_PATH = '/webhooks';

/** Header by which a receiver says to a GET whose it is. */
export const RECEIVER_HEADER = 'lote-receiver';
const SECRET_PATH = '/webhooks/:secret';

/** An event of one invoice is a few hundred bytes. */
const BODY_LIMIT = 256 * 1024;
/** Where one delivery holds many events. */
const LIST_BODY_LIMIT = 1024 * 1024;

/** All bodies together: 128 of the largest, tens of thousands of real ones. */
const MEMORY_LIMIT = 32 * 1024 * 1024;

/** Each costs a socket and some kilobytes; a service delivers over a few dozen. */
const MAX_CONNECTIONS = 1_000;

/** How long a closing receiver lets requests end that have begun. */
const CLOSE_GRACE_MS = 5_000;

/** In milliseconds: a request that is not here by then is a slow loris, whatever it says. */
export interface ReceiverTimeouts {
  readonly headers: number;
  readonly request: number;
  /** How often Node looks for late ones. */
  readonly check: number;
}

const TIMEOUTS: ReceiverTimeouts = { headers: 5_000, request: 15_000, check: 1_000 };

export interface ReceiverOptions {
  readonly host: string;
  readonly port: number;
  readonly ledger: Pick<Ledger, 'storeDeliveries'>;
  /** Asked again every few seconds and when no known one fits, so that a new secret counts without a restart. */
  readonly secrets: () => Promise<readonly string[]>;
  readonly shapes: ReceiverShapes;
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
  readonly log: ReceiverLog;
  readonly clock?: () => number;
  readonly timeouts?: Partial<ReceiverTimeouts>;
  readonly maxWaiting?: number;
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
  const group = createDeliveryGroup({
    store: (deliveries) => options.ledger.storeDeliveries(deliveries),
    onStored: (deliveries) => options.onStored(deliveries),
    onFailure: (error, deliveries) =>
      options.log.warn('Deliveries could not be recorded or announced', { deliveries, error: errorName(error) }),
    ...(options.maxWaiting !== undefined && { maxWaiting: options.maxWaiting }),
  });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const now = options.clock ?? Date.now;
  const { shapes, log } = options;
  let url = '';
  const secrets = createSecretCache(options.secrets, now);
  const address = (): string => options.registeredUrl ?? url;
  const misfits =
    options.misfits === undefined
      ? null
      : createMisfitWatch({
          ...{ book: options.misfits, shapes, now, url: address },
          secrets: async () => await secrets.get(SECRETS_FRESH_MS),
        });
  const parts: DeliveryHandlerParts = {
    check: createSignatureCheck({ shape: shapes.signature, url: address, log }),
    read: createEventReader(shapes),
    accept: options.accept ?? (() => true),
    bodyLimit: shapes.event.items === null ? BODY_LIMIT : LIST_BODY_LIMIT,
    tally: createDeliveryTally(now),
    budget: createByteBudget(MEMORY_LIMIT),
    ...{ secrets, misfits, group, log, now },
    ...(options.capture !== undefined && { capture: options.capture }),
  };
  const app = receiverApp(options, parts);
  const server = createAdaptorServer({
    fetch: app.fetch,
    serverOptions: {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      connectionsCheckingInterval: timeouts.check,
    },
  }) as Server;
  server.maxConnections = MAX_CONNECTIONS;
  const port = await listen(server, options);
  url = `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}${WEBHOOK_PATH}`;
  return {
    url,
    port,
    tally: () => parts.tally.counts(),
    async close() {
      await closeServer(server);
      await misfits?.close();
      await group.idle();
    },
  };
}

function receiverApp(options: ReceiverOptions, parts: DeliveryHandlerParts): Hono<Bindings> {
  const app = new Hono<Bindings>();
  app.get('/health/live', (c) => c.json({ status: 'live' }));
  for (const path of ['/health', '/health/ready']) {
    app.get(path, async (c) => {
      const readiness = (await options.ready?.()) ?? READY;
      return c.json(readiness, readiness.status === 'ready' ? 200 : 503);
    });
  }
  app.post(WEBHOOK_PATH, async (c) => await handleDelivery(c, parts));
  const identity = options.identity === undefined ? {} : { [RECEIVER_HEADER]: options.identity };
  app.all(WEBHOOK_PATH, (c) => c.body(null, 405, { allow: 'POST', ...identity }));
  if (options.shapes.signature.kind === 'path') {
    app.post(SECRET_PATH, async (c) => await handleDelivery(c, parts, c.req.param('secret')));
    app.all(SECRET_PATH, (c) => c.body(null, 405, { allow: 'POST' }));
  }
  for (const path of ['/health', '/health/live', '/health/ready'])
    app.all(path, (c) => c.body(null, 405, { allow: 'GET, HEAD' }));
  app.notFound((c) => c.body(null, 404));
  app.onError((error, c) => {
    options.log.warn('A delivery could not be handled', { error: errorName(error) });
    return unavailable(c);
  });
  return app;
}

async function listen(server: Server, { host, port }: ReceiverOptions): Promise<number> {
  return await new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error);
      reject(
        new LoteError(
          'port-taken',
          `Starting the webhook receiver: port ${port} on ${host} is taken. Free it, or set RECEIVER_PORT to another.`,
          { cause: error },
        ),
      );
    });
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/** Messages of database errors quote values; names and codes do not. */
function errorName(error: unknown): string {
  if (error instanceof LoteError) return error.code;
  return error instanceof Error ? error.name : 'unknown';
}
