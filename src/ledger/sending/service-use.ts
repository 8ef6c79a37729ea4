import { LoteError } from '../../domain/errors.ts';
import type {
  RateUpdate,
  ServiceAccountRecord,
  ServiceUseLedger,
} from '../../domain/ports/ledger/service-use-ledger.ts';
import {
  leftOfHold,
  LONGEST_HOLD_MS,
  rateOf,
  throttle,
  reservePermits,
  type RequestRate,
} from '../../domain/request-rate.ts';
import type { Database, Queries } from '../database/database.ts';
import type { RateRow } from './service-use-sql.ts';
import {
  CONFIRM_ACCOUNT,
  COUNT_SENDERS,
  FIND_ACCOUNT,
  FIND_USED_ACCOUNT,
  FORGET_EXPIRED_SLOTS,
  FORGET_MERCHANTS,
  HOLD_REQUESTS,
  LEASE_SLOTS,
  LOCK_RATE,
  LOCK_SLOTS,
  READ_RATE,
  RELEASE_SLOTS,
  REMEMBER_ACCOUNT,
  WRITE_RATE,
} from './service-use-sql.ts';

interface AccountRow {
  readonly application: string;
  readonly base_url: string;
  readonly key_fingerprint: string;
}

function idOf({ application, baseUrl, keyFingerprint }: ServiceAccountRecord): readonly string[] {
  return [application, baseUrl, keyFingerprint];
}

function accountOf([row]: readonly AccountRow[]): ServiceAccountRecord | null {
  if (row === undefined) return null;
  return { application: row.application, baseUrl: row.base_url, keyFingerprint: row.key_fingerprint };
}

/** The service as all processes of this ledger use it together. */
export function createServiceUse(database: Database): ServiceUseLedger {
  return {
    async knownAccount(account) {
      return accountOf(await database.query<AccountRow>(FIND_USED_ACCOUNT, idOf(account)));
    },

    async rememberAccount(account, now) {
      await database.query(REMEMBER_ACCOUNT, [...idOf(account), now]);
      return accountOf(await database.query<AccountRow>(FIND_USED_ACCOUNT, idOf(account))) ?? account;
    },

    async confirmAccount({ application, baseUrl, keyFingerprint }, now) {
      await database.transaction(async (queries) => {
        const [known] = await queries.query<AccountRow>(FIND_ACCOUNT, [application]);
        const same = known?.base_url === baseUrl && known.key_fingerprint === keyFingerprint;
        if (known !== undefined && !same) await queries.query(FORGET_MERCHANTS, [application]);
        await queries.query(CONFIRM_ACCOUNT, [application, baseUrl, keyFingerprint, now]);
      });
    },

    async leaseRate(baseUrl, { requests, requestsPerSecond: limit }) {
      return database.transaction(async (queries) => {
        const row = await lockRate(queries, baseUrl);
        const { state, waitMs, gapMs } = reservePermits(rateFromRow(row), { requests, limit, now: row.now });
        await writeRate(queries, baseUrl, state);
        return { waitMs, gapMs, ...updateOf(row, state, limit) };
      });
    },

    async currentRate(baseUrl, limit) {
      const [row] = await database.query<RateRow>(READ_RATE, [baseUrl]);
      return row === undefined ? { requestsPerSecond: limit, heldMs: 0 } : updateOf(row, rateFromRow(row), limit);
    },

    async slowDown(baseUrl, { requestsPerSecond: limit, tooMany }) {
      return database.transaction(async (queries) => {
        const row = await lockRate(queries, baseUrl);
        const [counted] = await queries.query<{ senders: number }>(COUNT_SENDERS, [baseUrl]);
        const taken = tooMany.taken * Math.max(1, counted?.senders ?? 1);
        const state = throttle(rateFromRow(row), { tooMany: { ...tooMany, taken }, limit, now: row.now });
        await writeRate(queries, baseUrl, state);
        return updateOf(row, state, limit);
      });
    },

    async holdRequests(baseUrl, ms) {
      await database.query(HOLD_REQUESTS, [baseUrl, ms, LONGEST_HOLD_MS]);
    },

    async leaseSlots(baseUrl, { holder, max, ttlMs, held = 0 }) {
      return database.transaction(async (queries) => {
        await queries.query(LOCK_SLOTS, [baseUrl]);
        await queries.query(FORGET_EXPIRED_SLOTS, [baseUrl]);
        const [row] = await queries.query<{ slots: number }>(LEASE_SLOTS, [baseUrl, holder, max, ttlMs, held]);
        return row?.slots ?? 0;
      });
    },

    async releaseSlots(baseUrl, holder) {
      await database.query(RELEASE_SLOTS, [baseUrl, holder]);
    },
  };
}

async function lockRate(queries: Queries, baseUrl: string): Promise<RateRow> {
  const [row] = await queries.query<RateRow>(LOCK_RATE, [baseUrl]);
  if (row === undefined)
    throw new LoteError('internal', 'Taking the request rate of a base address: its row was not locked.');
  return row;
}

function rateFromRow({ next_at, slowed_to, slowed_from, slowed_at }: RateRow): RequestRate {
  return {
    nextAt: next_at,
    throttled: slowed_to === null ? null : { to: slowed_to, from: slowed_from, at: slowed_at },
  };
}

async function writeRate(queries: Queries, baseUrl: string, { nextAt, throttled }: RequestRate): Promise<void> {
  await queries.query(WRITE_RATE, [baseUrl, nextAt, throttled?.to ?? null, throttled?.from ?? 0, throttled?.at ?? 0]);
}

function updateOf(row: RateRow, state: RequestRate, limit: number | null): RateUpdate {
  return { requestsPerSecond: rateOf(state, limit, row.now), heldMs: leftOfHold(row.held_until, row.now) };
}
