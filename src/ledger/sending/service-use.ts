import {
  FULL_RATE,
  leftOfHold,
  rateOf,
  reservePermits,
  slowDown,
  type RequestRate,
} from '../../domain/request-rate.ts';
import type { Database } from '../database/database.ts';
import { changeFact, findFact } from '../database/facts.ts';
import { LONGEST_PROBE_MS } from '../../domain/time/longest-probe.ts';
import { isAhead } from '../../domain/time/is-ahead.ts';
import type { Reason } from '../../domain/invoice.ts';

/** Where an application's invoices go, and with whose key. */
export interface ServiceAccountRecord {
  readonly application: string;
  readonly baseUrl: string;
  /** Of the key, salted by the ledger's id. */
  readonly keyFingerprint: string;
}

/** The limits that hold for all processes at the moment. */
export interface RateUpdate {
  /** The limit, or less after too many requests were refused; null: no limit. */
  readonly requestsPerSecond: number | null;
  /** The service's own Retry-After is in force for that long yet. */
  readonly heldMs: number;
}

/** Leased permits: the first may be used after `waitMs`, each further one `gapMs` later. Times are milliseconds. */
export interface RateLease extends RateUpdate {
  readonly waitMs: number;
  readonly gapMs: number;
}

/** The service as all processes of this ledger use it together. */
export function createServiceUse(database: Database) {
  const knownAccount = async (account: ServiceAccountRecord): Promise<ServiceAccountRecord | null> =>
    (await database.query<ServiceAccountRecord>(FIND_USED_ACCOUNT, idOf(account)))[0] ?? null;

  return {
    /** The account that the application used before; else another application of the ledger with this very account; else null. Writes nothing. */
    knownAccount,

    /** The service answered with this key: the account is the application's from now on, unless `knownAccount` has one, which comes back. */
    async rememberAccount(account: ServiceAccountRecord, now: number): Promise<ServiceAccountRecord> {
      await database.query(REMEMBER_ACCOUNT, [...idOf(account), now]);
      return (await knownAccount(account)) ?? account;
    },

    /** An operator confirms the account: it is the application's from now on, and so is each id in its list of merchants. */
    async confirmAccount(account: ServiceAccountRecord, now: number): Promise<void> {
      await database.transaction(async (queries) => {
        await queries.query(FORGET_MERCHANTS, [account.application]);
        await queries.query(CONFIRM_ACCOUNT, [...idOf(account), now]);
      });
    },

    /** The rate of a base address as all processes share it. `limit`: requests a second of the service profile; null: none. */
    sharedRate: (baseUrl: string, limit: number | null) => sharedRate(database, baseUrl, limit),
  };
}

function sharedRate(database: Database, baseUrl: string, limit: number | null) {
  const key = `rate ${baseUrl}`;
  const updateOf = (rate: StoredRate, now: number): RateUpdate => {
    return { requestsPerSecond: rateOf(rate, limit, now), heldMs: leftOfHold(rate.heldUntil, now) };
  };
  /** The lock gives each of two workers permits of its own. */
  const change = <Result>(next: (rate: StoredRate, now: number) => readonly [StoredRate, Result]): Promise<Result> =>
    changeFact<StoredRate, Result>(database, key, (rate, now) => next(rate ?? UNUSED_RATE, now));

  return {
    /** Takes no permit. */
    async current(): Promise<RateUpdate> {
      const { value, now } = await findFact<StoredRate>(database, key);
      return updateOf(value ?? UNUSED_RATE, now);
    },

    /** Leases the next permits of all processes. */
    lease: (requests: number): Promise<RateLease> =>
      change((rate, now) => {
        const { state, waitMs, gapMs } = reservePermits(rate, { requests, limit, now });
        const next = { ...rate, ...state };
        return [next, { waitMs, gapMs, ...updateOf(next, now) }];
      }),

    /** The service refused too many requests of this process and took `taken` in the second before. The rate falls at most once a second over all processes. */
    slowDown: (taken: number): Promise<RateUpdate> =>
      change((rate, now) => {
        const next = { ...rate, ...slowDown(rate, { taken, limit, now }) };
        return [next, updateOf(next, now)];
      }),

    /** The service asked to wait: no process sends before that. An earlier, longer hold stays. */
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

/** The rate of one base address, and until when (epoch milliseconds) the service wants no request. */
interface StoredRate extends RequestRate {
  readonly heldUntil: number;
}

const UNUSED_RATE: StoredRate = { ...FULL_RATE, heldUntil: 0 };

/** application, baseUrl, key fingerprint, now. Not when another application of the ledger has that very account. */
const REMEMBER_ACCOUNT = `/* remember-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at)
SELECT $1, $2, $3, $4::bigint
WHERE NOT EXISTS (SELECT 1 FROM service_account WHERE base_url = $2 AND key_fingerprint = $3)
ON CONFLICT (application) DO NOTHING`;

/** application, baseUrl, key fingerprint: the application's account, else the other application that has this one. */
const FIND_USED_ACCOUNT = `/* find-used-account */
SELECT application, base_url, key_fingerprint FROM service_account
WHERE application = $1 OR (base_url = $2 AND key_fingerprint = $3)
ORDER BY application = $1 DESC, application
LIMIT 1`;

/** application, baseUrl, key fingerprint, now. */
const CONFIRM_ACCOUNT = `/* confirm-account */
INSERT INTO service_account (application, base_url, key_fingerprint, confirmed_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (application) DO UPDATE SET base_url = excluded.base_url, key_fingerprint = excluded.key_fingerprint,
  confirmed_at = excluded.confirmed_at`;

/** application. The next list is right, whatever ids it has. */
const FORGET_MERCHANTS = `/* forget-merchants */
DELETE FROM merchant WHERE application = $1`;

interface BreakerRecord {
  readonly baseUrl: string;
  readonly reason: Reason;
  readonly openedAt: number;
  readonly probeAfter: number;
}

/** An open breaker as it stands. */
export interface OpenBreaker extends BreakerRecord {
  /** Until then one caller probes; null: no caller does, or the probe has failed. */
  readonly probingUntil: number | null;
}

/** Neither a probe nor its turn is as far away as that: a clock that ran ahead wrote such a time. */
function hasCome(at: number, now: number): boolean {
  return at <= now || isAhead(at, now + LONGEST_PROBE_MS);
}

/** The circuit breaker of each base address, shared by all processes of the ledger. No value means closed. */
export function createBreaker(database: Database) {
  const keyOf = (baseUrl: string): string => `breaker ${baseUrl}`;
  /** Resolves to whether the breaker has changed. */
  const change = (baseUrl: string, next: (open: OpenBreaker | null) => OpenBreaker | null): Promise<boolean> =>
    changeFact<OpenBreaker, boolean>(database, keyOf(baseUrl), (open) => {
      const then = next(open);
      return [then, then !== open];
    });

  return {
    breaker: async (baseUrl: string): Promise<OpenBreaker | null> =>
      (await findFact<OpenBreaker>(database, keyOf(baseUrl))).value,

    /** An open breaker keeps the time since which it is open. */
    async openBreaker({ baseUrl, openedAt, ...opened }: BreakerRecord): Promise<void> {
      await change(baseUrl, (open) => {
        const since = Math.min(open?.openedAt ?? openedAt, openedAt);
        return { baseUrl, ...opened, openedAt: since, probingUntil: null };
      });
    },

    /** After a success. */
    async closeBreaker(baseUrl: string): Promise<void> {
      await change(baseUrl, () => null);
    },

    /** True for exactly one caller once `probeAfter` has come: it may send one request, and all others wait until `until`. */
    claimProbe: (baseUrl: string, { now, until }: Turn): Promise<boolean> =>
      change(baseUrl, (open) => {
        if (open === null || !hasCome(open.probeAfter, now)) return open;
        return hasCome(open.probingUntil ?? now, now) ? { ...open, probingUntil: until } : open;
      }),

    /** Ends the turn that lasts until `until`: the next caller may probe from `now` on. A closed breaker, and the turn of another caller, stay. */
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
