import { hash, randomUUID } from 'node:crypto';
import { createAlarms, type Context, NO_LOG, type SandboxLog } from './context.ts';
import { applyChange, restoreApplications } from './application.ts';
import { readBooksOf, type Books } from './books.ts';
import { createChance, checkedFaults, type Faults } from './faults.ts';
import { simulatedEngine, type Engine } from './engine.ts';
import { createRequestHandler, type RequestHandler, createOutage, createRateLimit } from './http/handle-request.ts';
import { createSettlement } from './settlement.ts';
import type { SandboxStore } from './store.ts';
import { DEFAULT_DELIVERING, Deliverer, type Delivering } from './deliverer.ts';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Settings of a simulated service. Times are in milliseconds. */
export interface SandboxOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** 0 chooses any free port. */
  readonly port: number;
  /** The start opens the store, and `close` closes it. */
  readonly store: SandboxStore;
  /** The keys that are accepted, or `any` well-formed `sk_test_` key. Each is an application of its own. Default: `sk_test_sandbox`. */
  readonly apiKeys?: readonly string[] | 'any';
  readonly engine?: Engine;
  /** Added to the time of every answer. Default: 0. */
  readonly latencyMs?: number;
  /** Time from the creation to the verdict of the simulated engine. Default: 300 ms. */
  readonly settleMs?: number;
  /** Default: no faults. */
  readonly faults?: Partial<Faults>;
  /**
   * The same seed gives the same faults for the same requests. Ids of merchants and invoices follow from it, too, so that
   * a client that repeats its requests sends the same bytes. Only for temporary books, because two sandboxes with one
   * seed give the same ids. Default: random ids.
   */
  readonly seed?: string | number;
  readonly webhooks?: Partial<Delivering>;
  readonly clock?: () => number;
  readonly log?: SandboxLog;
}

/** A running simulated service. */
export interface Sandbox {
  /** Base address, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Returns the books of all applications. */
  books(): Books;
  /** Stops. The next start on the same store resumes settlement and deliveries. */
  close(): Promise<void>;
}

/** The API key that a sandbox accepts if no keys are set. */
export const DEFAULT_API_KEY = 'sk_test_sandbox';
const DEFAULT_SETTLE_MS = 300;

/** Starts a complete, simulated Electronic Invoicing Service. @throws if a setting is wrong, or port or store is in use. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', store, settleMs = DEFAULT_SETTLE_MS, clock = Date.now } = options;
  const faults = checkedFaults(options.faults);
  const applications = await restoreApplications(store.open());
  const stored = [...applications.values()];
  const invoices = stored.flatMap((one) => [...one.invoices.values()]);
  const alarms = createAlarms();
  const context = contextOf(options, { applications, faults });
  const deliverer = new Deliverer(context, alarms, { ...DEFAULT_DELIVERING, ...options.webhooks });
  const engine = options.engine ?? simulatedEngine({ settleMs });
  const settlement = createSettlement({ context, engine, deliverer, alarms });

  async function stop(): Promise<void> {
    alarms.stop();
    await deliverer.close();
    await store.close();
  }

  const handle = createRequestHandler({
    services: { context, settlement },
    keys: options.apiKeys ?? [DEFAULT_API_KEY],
    isDown: createOutage(faults.outage, clock),
    isTooMany: createRateLimit(faults.requestsPerSecond, clock),
  });
  const server = await listen({ host, port: options.port }, handle).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  // Asks the engine again about unfinished invoices; their delay counts from their creation.
  for (const invoice of invoices) if (invoice.status === 'processing') settlement.accept(invoice);
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
  const { latencyMs = 0, store, clock = Date.now, seed } = options;
  return {
    applications: parts.applications,
    faults: parts.faults,
    chance: createChance(parts.faults, String(seed ?? 1)),
    clock,
    newId: newIds(seed),
    log: options.log ?? NO_LOG,
    async commit(changes) {
      await store.write(changes);
      for (const change of changes) applyChange(parts.applications, change);
    },
    async latency() {
      if (latencyMs > 0) await new Promise((resolve) => setTimeout(resolve, latencyMs));
    },
  };
}

const ID_DIGITS = 24;

/** Ids are random without a seed, and for calls without `of`. */
function newIds(seed: string | number | undefined): Context['newId'] {
  return (prefix, of) => {
    const drawn =
      seed === undefined || of === undefined
        ? randomUUID().replaceAll('-', '')
        : hash('sha256', `${seed}\n${prefix}\n${of}`);
    return `${prefix}${drawn.slice(0, ID_DIGITS)}`;
  };
}

// Longer than clients keep a connection, so that the client closes it and no request reaches a closing connection.
const KEEP_ALIVE_MS = 72_000;
// A real client never takes longer than this to send its request.
const REQUEST_TIMEOUT_MS = 30_000;
const CLOSE_GRACE_MS = 2000;
const CLOSE_IDLE_EVERY_MS = 20;

/** Uses plain node:http, because the bench measures clients against this server, so the server must cost little. */
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
  // The address of a TCP server is an object.
  const { port: actual } = server.address() as AddressInfo;
  return {
    port: actual,
    /** Accepts no new requests, lets running ones end, and cuts the rest after the grace period. */
    async close(): Promise<void> {
      const closed = once(server, 'close');
      server.close();
      // Runs repeatedly, because a kept-alive connection becomes idle only after its answer.
      const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
      const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}
