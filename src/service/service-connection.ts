import { setMaxListeners } from 'node:events';
import { Pool } from 'undici';
import { exchange } from './exchange.ts';
import { outcomeOf, type ExchangeResult } from './exchange-result.ts';
import type { ServiceProfile } from './profile/profile.ts';
import { withProfileWait } from './limits/backoff.ts';
import { localRate, type SharedRate } from './limits/rate-limiter.ts';
import { TIMEOUTS } from './limits/time-outs.ts';
import { createRequestLimiter } from './limits/request-limiter.ts';
import type { DeparturePermit } from '../domain/records/service-answers.ts';
import type { MeasureRequest, ServiceOperation } from '../domain/records/measures.ts';
import { LoteError } from '../domain/errors.ts';

/** Node servers and many balancers close idle connections after 5 s, and a request on a stale one loses its answer. */
const KEEP_ALIVE_MS = 4_000;

/** Address, key and limits of a connection. `timeouts` are milliseconds. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profile: ServiceProfile;
  readonly application: string;
  readonly timeouts?: Partial<typeof TIMEOUTS>;
  /** The rate that all processes of a ledger share. Optional: the default is the profile's rate, for this process. */
  readonly rate?: SharedRate;
  /** Optional: called with each answer as received. */
  readonly capture?: (answer: Answer) => void;
  /** Optional: called for each answer with the time of its `Date` header in epoch milliseconds, or null without one. */
  readonly heard?: (at: number | null) => void;
  /** Optional: called for each request that has its permit, to measure it. */
  readonly measure?: MeasureRequest | undefined;
}

type Answer = Extract<ExchangeResult, { kind: 'answer' }>;

/** A request below the service's base address. */
interface Call {
  readonly operation: ServiceOperation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal | undefined;
  readonly permit?: DeparturePermit | undefined;
  /** Optional: evaluates the expressions of the profile over the answer. */
  readonly evaluate?: ((end: ExchangeResult) => Promise<ExchangeResult>) | undefined;
}

/**
 * Opens the connections, key and limits that all requests of one process to one base address share.
 * @throws LoteError `configuration-invalid` when the address or the key cannot be used.
 */
export function openConnection(options: ConnectionOptions) {
  const { profile } = options;
  const address = serviceAddress(options);
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const rate = options.rate ?? localRate(profile.limits.requestsPerSecond);
  const limiter = createRequestLimiter({ profile, rate });
  const always = headersOf(options);
  const withBody = { ...always, 'content-type': profile.requests.contentType };
  const open = (): Pool => openPool(address.origin, profile.limits.maxConcurrency, timeouts);
  let pool = open();

  return {
    /** The address as the ledger keys it, without a trailing slash. */
    baseUrl: address.baseUrl,
    call({ operation, method, path, body, idempotencyKey, signal, permit, evaluate }: Call): Promise<ExchangeResult> {
      // One signal ends a whole slice, and each request of the slice listens to it: many listeners are no leak here.
      if (signal !== undefined) setMaxListeners(0, signal);
      const headers: Record<string, string> = { ...(body === undefined ? always : withBody) };
      if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
      const asked = performance.now();
      const send = async (): Promise<ExchangeResult> => {
        const ended = options.measure?.(operation, performance.now() - asked);
        const end = await exchange(
          pool,
          { method, path: address.pathPrefix + path, headers, body: body ?? null },
          { totalMs: timeouts.total, secret: options.apiKey, now: Date.now, signal, permit },
        );
        const read = evaluate === undefined ? end : await evaluate(end);
        ended?.(outcomeOf(read));
        if (read.kind !== 'answer') return read;
        const answer = withProfileWait(read, profile.answers, Date.now());
        notifyListeners(options, answer);
        return answer;
      };
      return limiter.pass(send, { signal, permit });
    },
    /** Closes all connections at once: requests under way end as broken, and later requests use new connections. */
    drop(): void {
      const dropped = pool;
      pool = open();
      dropped.destroy().catch(() => undefined);
    },
    close: () => pool.close(),
  };
}

/** Tells the listeners of an answer. A cached answer has an earlier `Date`, which is still a correct lower bound. */
function notifyListeners({ capture, heard }: ConnectionOptions, answer: Answer): void {
  capture?.(answer);
  const said = answer.headers?.['date'];
  const at = typeof said === 'string' ? Date.parse(said) : Number.NaN;
  heard?.(Number.isNaN(at) ? null : at);
}

/** Returns the headers of each request. Those of the profile replace `Accept` and `User-Agent`; Lote's other headers stay. */
function headersOf({ apiKey, profile }: ConnectionOptions): Readonly<Record<string, string>> {
  const own = Object.entries(profile.requests.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...{ accept: 'application/json', 'user-agent': 'lote' },
    ...Object.fromEntries(own),
    authorization: `Bearer ${apiKey}`,
    // A compressed answer could unfold to any size; Lote does not read an answer that is compressed all the same.
    'accept-encoding': 'identity',
  };
}

function openPool(origin: string, connections: number, timeouts: typeof TIMEOUTS): Pool {
  return new Pool(origin, {
    connections,
    pipelining: 1,
    connect: { timeout: timeouts.connect },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
  });
}

interface AddressOptions extends Pick<ConnectionOptions, 'baseUrl' | 'apiKey' | 'application'> {
  readonly profile: Pick<ServiceProfile, 'allowPlainHttp'>;
}

const TEST_KEY = 'sk_test_';
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns the address of requests from the checked configuration.
 * @throws LoteError `configuration-invalid`; the key itself is never in the message.
 */
export function serviceAddress({ baseUrl, apiKey, application, profile }: AddressOptions) {
  const { protocol, hostname, origin, pathname } = new URL(baseUrl);
  const isProtected = protocol === 'https:' || LOOPBACK.test(hostname) || profile.allowPlainHttp;
  if (!isProtected && !apiKey.startsWith(TEST_KEY)) {
    throw new LoteError(
      'configuration-invalid',
      `Connecting application ${JSON.stringify(application)} to the invoicing service: a key that is not a test key (${TEST_KEY}…) must go over https, or stay on this machine, found INVOICING_BASE_URL with http and the host ` +
        `${JSON.stringify(hostname)}. Nothing was sent. Use the https address; if the way to that host is protected otherwise, set ` +
        '"allowPlainHttp": true in the file of SERVICE_PROFILE.',
    );
  }
  const pathPrefix = pathname.replace(/\/+$/, '');
  return { baseUrl: origin + pathPrefix, origin, pathPrefix };
}
