import { createHash, randomBytes } from 'node:crypto';
import { createAlarms, type Context, NO_LOG, type SandboxLog } from './context.ts';
import { apiKeys } from './api-keys.ts';
import { applyChange, restoreApplications } from './application.ts';
import { readBooksOf, type Books } from './books.ts';
import { createChance, checkedFaults, type Faults } from './faults.ts';
import { simulatedEngine, type Engine } from './engine.ts';
import { createRequestHandler, type RequestHandler, createOutage, createRateLimit } from './http/handle-request.ts';
import { createSettlement } from './settlement.ts';
import type { SandboxStore } from './store.ts';
import { readInvoiceBody } from './invoice-body.ts';
import { DEFAULT_RETRY_PLAN, Deliverer, type RetryPlan } from './deliverer.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Settings of a simulated service; times are milliseconds. */
export interface SandboxOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Opened by the start, closed by `close`. */
  readonly store: SandboxStore;
  /** Default `sk_test_sandbox`; each key is an application of its own. */
  readonly apiKeys?: readonly string[];
  /** Every well-formed `sk_test_` key is accepted. */
  readonly openKeys?: boolean;
  readonly engine?: Engine;
  /** Added to every answer; default 0. */
  readonly latencyMs?: number;
  /** When the simulated engine speaks; default 300 ms after the creation. */
  readonly settleMs?: number;
  /** Default: none. */
  readonly faults?: Partial<Faults>;
  /** The same seed brings the same faults to the same requests. */
  readonly seed?: string | number;
  /**
   * Ids of merchants and invoices follow from the seed, so that a client which sends the same again sends the same bytes, and meets the same faults.
   * For books that are thrown away: two sandboxes of one seed give the same ids. Default: at random.
   */
  readonly idsBySeed?: boolean;
  readonly webhooks?: Partial<RetryPlan & { readonly concurrency: number; readonly timeoutMs: number }>;
  readonly clock?: () => number;
  readonly log?: SandboxLog;
}

/** A simulated service that listens. */
export interface Sandbox {
  /** Base address, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The books of all applications. */
  books(): Books;
  /** Stops; what was not settled or delivered goes on at the next start on the same store. */
  close(): Promise<void>;
}

/** The API key that a sandbox accepts when none is set. */
export const DEFAULT_API_KEY = 'sk_test_sandbox';
const DEFAULT_SETTLE_MS = 300;
const DEFAULT_DELIVERIES_AT_A_TIME = 32;
const DEFAULT_DELIVERY_TIMEOUT_MS = 10_000;

/**
 * Starts a complete, simulated Electronic Invoicing Service.
 * @throws Error when a setting is wrong, the port or the store taken.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', store, settleMs = DEFAULT_SETTLE_MS, clock = Date.now } = options;
  const faults = checkedFaults(options.faults);
  const keys = apiKeys({ keys: options.apiKeys ?? [DEFAULT_API_KEY], open: options.openKeys ?? false });
  const applications = await restoreApplications(store.open());
  const stored = [...applications.values()];
  const invoices = stored.flatMap((one) => [...one.invoices.values()]);
  const alarms = createAlarms();
  const context = contextOf(options, { applications, faults });
  const { concurrency = DEFAULT_DELIVERIES_AT_A_TIME, timeoutMs = DEFAULT_DELIVERY_TIMEOUT_MS } =
    options.webhooks ?? {};
  const plan = { ...DEFAULT_RETRY_PLAN, ...options.webhooks };
  const deliverer = new Deliverer({ context, alarms, plan, concurrency, timeoutMs });
  const engine = options.engine ?? simulatedEngine({ settleMs });
  const settlement = createSettlement({ context, engine, deliverer, alarms });

  async function stop(): Promise<void> {
    alarms.stop();
    await deliverer.close();
    await store.close();
  }

  const handle = createRequestHandler({
    ...{ services: { context, settlement }, keys },
    isDown: createOutage(faults.outage, clock),
    isTooMany: createRateLimit(faults.requestsPerSecond, clock),
  });
  const server = await listen({ host, port: options.port }, handle).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // What was processing when the last process ended is asked of the engine again, with the time that has passed.
  for (const invoice of invoices.filter(({ status }) => status === 'processing')) {
    const text = await store.invoiceBody(invoice.id);
    const read = readInvoiceBody(JSON.parse(text));
    if (read.ok) settlement.accept({ invoice, body: read.body, text });
  }
  void deliverer.enqueue(stored.flatMap(({ deliveriesPending }) => [...deliveriesPending.values()]));
  context.log.info('The sandbox is up.', { port: server.port, invoices: invoices.length });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    books: () => readBooksOf(applications),
    async close() {
      await server.close();
      await stop();
    },
  };
}

function contextOf(options: SandboxOptions, parts: Pick<Context, 'applications' | 'faults'>): Context {
  const { latencyMs = 0, store, clock = Date.now, seed = 1 } = options;
  return {
    applications: parts.applications,
    faults: parts.faults,
    chance: createChance(parts.faults, String(seed)),
    clock,
    newId: newIds(options.idsBySeed === true ? String(seed) : null),
    log: options.log ?? NO_LOG,
    async commit(changes) {
      await store.write(changes);
      for (const change of changes) applyChange(parts.applications, change);
    },
    invoiceBody: (id) => store.invoiceBody(id),
    async latency() {
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    },
  };
}

const ID_BYTES = 12;

/** A seed of null, and what has no `of`: at random. */
function newIds(seed: string | null): Context['newId'] {
  return (prefix, of) => {
    const drawn =
      seed === null || of === undefined
        ? randomBytes(ID_BYTES)
        : createHash('sha256').update(`${seed}\n${prefix}\n${of}`).digest().subarray(0, ID_BYTES);
    return `${prefix}${drawn.toString('hex')}`;
  };
}

// Longer than clients keep a connection, so that it is they who close it and never a request that meets a closing one.
const KEEP_ALIVE_MS = 72_000;
// A client that sends its request more slowly than this is no client.
const REQUEST_TIMEOUT_MS = 30_000;
const CLOSE_GRACE_MS = 2000;
const CLOSE_IDLE_EVERY_MS = 20;

/** Plain node:http: the bench measures its clients with this server in the way, so the server must cost little. */
async function listen({ host, port }: { readonly host: string; readonly port: number }, handle: RequestHandler) {
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void handle(request, response),
  );
  const listening = once(server, 'listening');
  server.listen({ host, port });
  try {
    await listening;
  } catch (cause) {
    throw new Error(`Starting the sandbox: ${host}:${port} must be free, and cannot be listened on.`, { cause });
  }
  // An address of a TCP server is an object.
  const { port: actual } = server.address() as AddressInfo;
  return {
    port: actual,
    /** Takes no new request, lets those under way end, cuts what is left after the grace. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      // Again and again: a kept-alive connection that was answering becomes idle only after its answer.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
