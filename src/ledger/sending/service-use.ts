import {
  FULL_RATE,
  leftOfHold,
  rateOf,
  reservePermits,
  slowDown,
  type RequestRate,
} from '../../domain/request-rate.ts';
import type { Database } from '../../database/database.ts';
import { changeFact, findFact } from '../facts.ts';
import { LONGEST_PROBE_MS, isAhead } from '../../domain/time/instants.ts';
import type { Reason } from '../../domain/invoice.ts';

/** The account of the service to which an application's invoices go. */
export interface ServiceAccountRecord {
  readonly application: string;
  readonly baseUrl: string;
  /** Fingerprint of the key, salted with the ledger's id. */
  readonly keyFingerprint: string;
}

/** The present limits for all processes. */
export interface RateUpdate {
  /** The limit, lower after too many requests were refused; null means no limit. */
  readonly requestsPerSecond: number | null;
  /** The remaining milliseconds of the service's Retry-After. */
  readonly heldMs: number;
}

/** Leased permits: the first may be used after `waitMs`, each further one `gapMs` later. Times are milliseconds. */
export interface RateLease extends RateUpdate {
  readonly waitMs: number;
  readonly gapMs: number;
}

/** Shares the use of the service between all processes of this ledger. */
export function createServiceUse(database: Database) {
  const knownAccount = async (account: ServiceAccountRecord): Promise<ServiceAccountRecord | null> =>
    (await database.query<ServiceAccountRecord>(FIND_USED_ACCOUNT, idOf(account)))[0] ?? null;

  return {
    /** Returns the known account of the application, else another application of the ledger with the same account, else null. Writes nothing. */
    knownAccount,

    /** Remembers the account as the application's, after the service answered with its key. An account that `knownAccount` finds stays, and is returned. */
    async rememberAccount(account: ServiceAccountRecord, now: number): Promise<ServiceAccountRecord> {
      await database.query(REMEMBER_ACCOUNT, [...idOf(account), now]);
      return (await knownAccount(account)) ?? account;
    },

    /** Makes the account the application's after an operator confirmed it, and accepts each id in its next list of merchants. */
    async confirmAccount(account: ServiceAccountRecord, now: number): Promise<void> {
      await database.transaction(async (queries) => {
        await queries.query(FORGET_MERCHANTS, [account.application]);
        await queries.query(CONFIRM_ACCOUNT, [...idOf(account), now]);
      });
    },

    /** Shares the rate of a base address between all processes. `limit`: requests a second of the service profile; null means no limit. */
    sharedRate: (baseUrl: string, limit: number | null) => sharedRate(database, baseUrl, limit),
  };
}

function sharedRate(database: Database, baseUrl: string, limit: number | null) {
  const key = `rate ${baseUrl}`;
  const updateOf = (rate: StoredRate, now: number): RateUpdate => {
    return { requestsPerSecond: rateOf(rate, limit, now), heldMs: leftOfHold(rate.heldUntil, now) };
  };
  /** The lock gives two workers different permits. */
  const change = <Result>(next: (rate: StoredRate, now: number) => readonly [StoredRate, Result]): Promise<Result> =>
    changeFact<StoredRate, Result>(database, key, (rate, now) => next(rate ?? UNUSED_RATE, now));

  return {
    async current(): Promise<RateUpdate> {
      const { value, now } = await findFact<StoredRate>(database, key);
      return updateOf(value ?? UNUSED_RATE, now);
    },

    lease: (requests: number): Promise<RateLease> =>
      change((rate, now) => {
        const { state, waitMs, gapMs } = reservePermits(rate, { requests, limit, now });
        const next = { ...rate, ...state };
        return [next, { waitMs, gapMs, ...updateOf(next, now) }];
      }),

    /** Lowers the rate, at most once a second over all processes, after refusals of too many requests. `taken`: requests accepted in the second before. */
    slowDown: (taken: number): Promise<RateUpdate> =>
      change((rate, now) => {
        const next = { ...rate, ...slowDown(rate, { taken, limit, now }) };
        return [next, updateOf(next, now)];
      }),

    /** Stops all processes for `ms` because the service asked to wait. An earlier, longer hold stays. */
    hold: (ms: number): Promise<void> =>
      change((rate, now) => {
        const heldUntil = Math.max(now + leftOfHold(rate.heldUntil, now), now + ms);
        return [{ ...rate, heldUntil }, undefined];
      }),
  };
}

function idOf({ application, baseUrl, keyFingerprint }: ServiceAccountRecord): readonly string[] {
  return [application, baseUrl, keyFingerprint];
}

/** The rate of one base address, and the time (epoch milliseconds) until which the service wants no request. */
interface StoredRate extends RequestRate {
  readonly heldUntil: number;
}

const UNUSED_RATE: StoredRate = { ...FULL_RATE, heldUntil: 0 };

/** Parameters: application, baseUrl, key fingerprint, now. Writes nothing if another application of the ledger has the same account. */
const REMEMBER_ACCOUNT = `/* remember-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at)
SELECT $1, $2, $3, $4::bigint
WHERE NOT EXISTS (SELECT 1 FROM service_account WHERE base_url = $2 AND key_fingerprint = $3)
ON CONFLICT (application) DO NOTHING`;

/** Parameters: application, baseUrl, key fingerprint. Finds the application's account, else another application with this one. */
const FIND_USED_ACCOUNT = `/* find-used-account */
SELECT application, base_url, key_fingerprint FROM service_account
WHERE application = $1 OR (base_url = $2 AND key_fingerprint = $3)
ORDER BY application = $1 DESC, application
LIMIT 1`;

const CONFIRM_ACCOUNT = `/* confirm-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (application) DO UPDATE SET base_url = excluded.base_url, key_fingerprint = excluded.key_fingerprint,
  confirmed_at = excluded.confirmed_at`;

/** Parameter: application. After this, Lote accepts any ids in the next list. */
const FORGET_MERCHANTS = `/* forget-merchants */
DELETE FROM merchant WHERE application = $1`;

/** The state of an open breaker. */
export interface OpenBreaker {
  readonly baseUrl: string;
  readonly reason: Reason;
  readonly openedAt: number;
  readonly probeAfter: number;
  /** Until then one caller probes; null if no caller does, or the probe has failed. */
  readonly probingUntil: number | null;
}

/** Returns true once the time has come. A time beyond the longest probe also counts: a clock that ran ahead wrote it. */
function hasCome(at: number, now: number): boolean {
  return at <= now || isAhead(at, now + LONGEST_PROBE_MS);
}

/** The circuit breaker of each base address, shared by all processes of the ledger. A missing value means closed. */
export function createBreaker(database: Database) {
  const keyOf = (baseUrl: string): string => `breaker ${baseUrl}`;
  /** Resolves to true if the breaker has changed. */
  const change = (baseUrl: string, next: (open: OpenBreaker | null) => OpenBreaker | null): Promise<boolean> =>
    changeFact<OpenBreaker, boolean>(database, keyOf(baseUrl), (open) => {
      const then = next(open);
      return [then, then !== open];
    });

  return {
    breaker: async (baseUrl: string): Promise<OpenBreaker | null> =>
      (await findFact<OpenBreaker>(database, keyOf(baseUrl))).value,

    /** Opens the breaker. An open breaker keeps its opening time. */
    async openBreaker({ baseUrl, openedAt, ...opened }: Omit<OpenBreaker, 'probingUntil'>): Promise<void> {
      await change(baseUrl, (open) => {
        const since = Math.min(open?.openedAt ?? openedAt, openedAt);
        return { baseUrl, ...opened, openedAt: since, probingUntil: null };
      });
    },

    async closeBreaker(baseUrl: string): Promise<void> {
      await change(baseUrl, () => null);
    },

    /** Returns true to exactly one caller once `probeAfter` has come. That caller may send one request, and the others wait until `until`. */
    claimProbe: (baseUrl: string, { now, until }: Turn): Promise<boolean> =>
      change(baseUrl, (open) => {
        if (open === null || !hasCome(open.probeAfter, now)) return open;
        return hasCome(open.probingUntil ?? now, now) ? { ...open, probingUntil: until } : open;
      }),

    /** Ends the turn that lasts until `until`: the next caller may probe from `now` on. A closed breaker, or the turn of another caller, does not change. */
    async giveBackProbe(baseUrl: string, { now, until }: Turn): Promise<void> {
      await change(baseUrl, (open) =>
        open?.probingUntil === until ? { ...open, probeAfter: now, probingUntil: null } : open,
      );
    },
  };
}

interface Turn {
  readonly now: number;
  readonly until: number;
}
