import { setMaxListeners } from 'node:events';
import { Pool } from 'undici';
import type { DeparturePermit } from '../domain/ports/invoicing-service.ts';
import type { MeasureRequest, ServiceOperation } from '../domain/ports/measures.ts';
import { exchange } from './exchange.ts';
import { outcomeOf, type ExchangeResult } from './exchange-result.ts';
import type { LeasedSlots } from './limits/leased-slots.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import type { RateLimiter } from './limits/rate-limiter.ts';
import { createRequestLimiter } from './limits/request-limiter.ts';
import { serviceAddress } from './service-address.ts';

/** In milliseconds. A connection takes one round trip or is not there; an engine may think for a while; an answer is small. */
interface ServiceTimeouts {
  readonly connect: number;
  readonly headers: number;
  readonly body: number;
  readonly total: number;
}

const TIMEOUTS: ServiceTimeouts = { connect: 10_000, headers: 30_000, body: 10_000, total: 45_000 };

/** Shorter than the 5 s after which Node servers and many balancers close an idle connection: a stale one costs a lost answer. */
const KEEP_ALIVE_MS = 4_000;

/** Rate and concurrency that hold over all processes of a ledger. */
export interface SharedLimits {
  readonly rateLimiter?: RateLimiter;
  readonly slots?: LeasedSlots;
}

/** Address, key, limits and clocks of a connection. `clock` gives epoch milliseconds, `timeouts` are milliseconds. */
export interface ConnectionOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly profile: ServiceProfile;
  readonly application: string;
  readonly clock?: () => number;
  readonly random?: () => number;
  readonly timeouts?: Partial<ServiceTimeouts>;
  /** What several processes share of the limits; default: the profile's limits, for this process alone. */
  readonly shared?: SharedLimits;
  /** Gets each answer with its request, as they are; left out: nobody does. */
  readonly capture?: (exchange: CapturedExchange) => void;
  /** Told of each answer, with the time in its head in epoch milliseconds; null: it has none. Left out: nobody listens. */
  readonly heard?: (at: number | null) => void;
  /** Told of each request that has its permit; left out: nobody measures. */
  readonly measure?: MeasureRequest | undefined;
}

/** A request and its answer, for whoever records them; they hold names and tax numbers. */
export interface CapturedExchange {
  /** Epoch milliseconds of the answer. */
  readonly at: number;
  readonly method: string;
  /** Without a slash at its end. */
  readonly base: string;
  /** Below the base address, with its query. */
  readonly path: string;
  readonly body: string | null;
  readonly answer: Extract<ExchangeResult, { kind: 'answer' }>;
}

/** A request below the service's base address. */
interface Call {
  /** Left out: it is not measured. */
  readonly operation?: ServiceOperation;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly idempotencyKey?: string;
  readonly signal: AbortSignal | undefined;
  readonly permit?: DeparturePermit | undefined;
}

/** What every request of one process to one base address shares: its connections, its key, its limits. */
export interface ServiceConnection {
  /** As the ledger keys it: no trailing slash. */
  readonly baseUrl: string;
  call(request: Call): Promise<ExchangeResult>;
  close(): Promise<void>;
}

/** @throws LoteError `configuration-invalid` when the address or the key cannot be used. */
export function openConnection(options: ConnectionOptions): ServiceConnection {
  const { profile } = options;
  const address = serviceAddress({ ...options, allowPlainHttp: profile.allowPlainHttp });
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const now = options.clock ?? Date.now;
  const limiter = createRequestLimiter({
    ...profile.limits,
    now,
    random: options.random ?? Math.random,
    ...options.shared,
  });
  const own = ownHeaders(profile, address.headers);
  const always = { ...address.headers, ...own };
  const withBody = { ...always, 'content-type': profile.requests.contentType };
  const pool = openPool(address.origin, profile.limits.maxConcurrency, timeouts);

  const connection: ServiceConnection = {
    baseUrl: address.baseUrl,
    call({ operation, method, path, body, idempotencyKey, signal, permit }) {
      // One signal ends a whole slice, and each of its requests listens until it has ended: many listeners are no leak here.
      if (signal !== undefined) setMaxListeners(0, signal);
      const headers: Record<string, string> = { ...(body === undefined ? always : withBody) };
      if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
      const send = (): Promise<ExchangeResult> =>
        exchange(
          pool,
          { method, path: address.pathPrefix + path, headers, body: body ?? null },
          { totalMs: timeouts.total, secret: options.apiKey, now, signal, permit },
        );
      const { measure } = options;
      const isMeasured = measure !== undefined && operation !== undefined;
      return limiter.pass(isMeasured ? measured(send, measure, operation) : send, { signal, permit });
    },
    async close() {
      await pool.close();
      await options.shared?.slots?.close();
    },
  };
  const { capture, heard } = options;
  const timed = heard === undefined ? connection : hearing(connection, heard);
  return capture === undefined ? timed : capturing(timed, { capture, now });
}

/** Of an answer from a cache the time is an earlier one, which says nothing wrong: it is that late at least. */
function hearing(connection: ServiceConnection, heard: (at: number | null) => void): ServiceConnection {
  return {
    ...connection,
    async call(request) {
      const answer = await connection.call(request);
      if (answer.kind !== 'answer') return answer;
      const said = answer.headers?.['date'];
      const at = typeof said === 'string' ? Date.parse(said) : Number.NaN;
      heard(Number.isNaN(at) ? null : at);
      return answer;
    },
  };
}

/** From now on it waits for its permit; then it is sent. */
function measured(
  send: () => Promise<ExchangeResult>,
  measure: MeasureRequest,
  operation: ServiceOperation,
): () => Promise<ExchangeResult> {
  const asked = performance.now();
  return async () => {
    const ended = measure(operation, performance.now() - asked);
    const end = await send();
    ended(outcomeOf(end));
    return end;
  };
}

function capturing(
  connection: ServiceConnection,
  { capture, now }: { readonly capture: NonNullable<ConnectionOptions['capture']>; readonly now: () => number },
): ServiceConnection {
  return {
    ...connection,
    async call(request) {
      const answer = await connection.call(request);
      const { method, path, body = null } = request;
      if (answer.kind === 'answer') capture({ at: now(), method, base: connection.baseUrl, path, body, answer });
      return answer;
    },
  };
}

type Headers = Readonly<Record<string, string>>;

/** Headers of the profile. They replace `Accept` and `User-Agent`; everything else that Lote sets itself stays. */
function ownHeaders({ requests }: ServiceProfile, address: Headers): Headers {
  const { accept: _accept, 'user-agent': _name, ...kept } = address;
  const own = Object.entries(requests.headers).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...(Object.fromEntries(own) as Headers), ...kept };
}

function openPool(origin: string, connections: number, timeouts: ServiceTimeouts): Pool {
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
