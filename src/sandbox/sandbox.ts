import { createHash, randomBytes } from 'node:crypto';
import { createAlarms } from './alarms.ts';
import { apiKeys, applicationIdOf } from './api-keys.ts';
import { applicationOf, applyChange, restoreApplications } from './application.ts';
import { readBooksOf } from './books.ts';
import type { Books } from './books.ts';
import { createChance } from './chance.ts';
import type { Context } from './context.ts';
import type { Dialect } from './dialect/dialect.ts';
import { profileDialect } from './dialect/profile-dialect.ts';
import { PUBLISHED_DIALECT } from './dialect/published-dialect.ts';
import { withoutCredentials } from './dialect/requests/read-request.ts';
import { simulatedEngine } from './engine.ts';
import type { Engine } from './engine.ts';
import { checkedFaults } from './faults.ts';
import type { Faults } from './faults.ts';
import { createRequestHandler } from './http/handle-request.ts';
import { listen } from './http/listen.ts';
import { createOutage } from './http/outage.ts';
import { createRateLimit } from './http/rate-limit.ts';
import { createWriteBatcher } from './write-batcher.ts';
import { NO_LOG } from './sandbox-log.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { keepEndpoint } from './operations/register-webhook.ts';
import { EVENT_TYPES } from './records.ts';
import { createSettlement } from './settlement.ts';
import type { Settlement } from './settlement.ts';
import type { SandboxStore, StoredBooks } from './store/sandbox-store.ts';
import { readInvoiceBody } from './validation/invoice-body.ts';
import { DEFAULT_RETRY_PLAN } from './webhooks/backoff.ts';
import type { RetryPlan } from './webhooks/backoff.ts';
import { createDeliverer } from './webhooks/deliverer.ts';
import { createSender } from './webhooks/send-delivery.ts';

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
  /** Text of a service profile that the sandbox shall speak; left out: what is published. */
  readonly profile?: string;
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
  readonly random?: () => number;
  readonly newId?: (prefix: string) => string;
  readonly log?: SandboxLog;
}

/** A simulated service that listens. */
export interface Sandbox {
  /** Base address, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The books of all applications. */
  books(): Books;
  /** Registers an address as somebody does by hand; with a secret in it where the profile says so. Null: the sandbox makes the secret. */
  registerByHand(address: string, secret: string | null): Promise<void>;
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
 * @throws UnspeakableProfile when the sandbox cannot speak the profile; Error when another setting is wrong, the port or the store taken.
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', store, settleMs = DEFAULT_SETTLE_MS, clock = Date.now } = options;
  const faults = checkedFaults(options.faults);
  const keys = apiKeys({ keys: options.apiKeys ?? [DEFAULT_API_KEY], open: options.openKeys ?? false });
  const dialect = options.profile === undefined ? PUBLISHED_DIALECT : profileDialect(options.profile, clock);
  const stored = await store.open();
  const applications = restoreApplications(stored);
  const batcher = createWriteBatcher(store);
  const alarms = createAlarms();
  const context = contextOf(options, { applications, faults, dialect, commit: (changes) => batcher.commit(changes) });
  const { concurrency = DEFAULT_DELIVERIES_AT_A_TIME, timeoutMs = DEFAULT_DELIVERY_TIMEOUT_MS } =
    options.webhooks ?? {};
  const sender = createSender({ connections: concurrency, timeoutMs });
  const plan = { ...DEFAULT_RETRY_PLAN, ...options.webhooks };
  const deliverer = createDeliverer({ context, sender, seal: dialect.seal, alarms, plan, concurrency });
  const engine = options.engine ?? simulatedEngine({ settleMs });
  const settlement = createSettlement({ context, engine, deliverer, alarms });

  async function stop(): Promise<void> {
    alarms.stop();
    await deliverer.close();
    await batcher.drain();
    await store.close();
  }

  const services = { context, settlement };
  const outage = createOutage(faults.outage, clock);
  const rateLimit = createRateLimit(faults.requestsPerSecond, clock);
  const handle = createRequestHandler({ services, keys, outage, rateLimit, dialect });
  const server = await listen({ host, port: options.port, handle }).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  resume(stored, settlement);
  void deliverer.enqueue(stored.deliveries);
  context.log.info('The sandbox is up.', { port: server.port, invoices: stored.invoices.length });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    port: server.port,
    books: () => readBooksOf(applications),
    async registerByHand(address, secret) {
      const [key = DEFAULT_API_KEY] = options.apiKeys ?? [];
      const { address: url, secret: inAddress } = withoutCredentials(address);
      const application = applicationOf(applications, applicationIdOf(key));
      await keepEndpoint(context, application, { url, events: EVENT_TYPES, secret: inAddress ?? secret });
    },
    async close() {
      await server.close();
      await stop();
    },
  };
}

function contextOf(
  options: SandboxOptions,
  parts: Pick<Context, 'applications' | 'faults' | 'commit'> & { readonly dialect: Dialect },
): Context {
  const { latencyMs = 0, store, clock = Date.now, random = Math.random, seed = 1 } = options;
  return {
    applications: parts.applications,
    faults: parts.faults,
    chance: createChance(parts.faults, String(seed)),
    clock,
    random,
    newId: options.newId ?? newIds(parts.dialect, options.idsBySeed === true ? String(seed) : null),
    log: options.log ?? NO_LOG,
    async commit(changes) {
      await parts.commit(changes);
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
function newIds(dialect: Dialect, seed: string | null): Context['newId'] {
  return (prefix, of) => {
    const drawn =
      seed === null || of === undefined
        ? randomBytes(ID_BYTES)
        : createHash('sha256').update(`${seed}\n${prefix}\n${of}`).digest().subarray(0, ID_BYTES);
    return dialect.newId?.(prefix, drawn) ?? `${prefix}${drawn.toString('hex')}`;
  };
}

// What was processing when the last process ended is asked of the engine again, with the time that has passed.
function resume(stored: StoredBooks, settlement: Settlement): void {
  for (const invoice of stored.invoices) {
    if (invoice.status !== 'processing') continue;
    const text = stored.processingBodies.get(invoice.id) ?? '';
    const read = readInvoiceBody(JSON.parse(text));
    if (read.ok) settlement.accept({ invoice, body: read.body, text });
  }
}
