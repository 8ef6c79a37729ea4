import { LoteError } from '../../domain/errors.ts';
import type { PaceNews, ServiceAccountRecord, ServiceUseLedger } from '../../domain/ports/service-use-ledger.ts';
import { rateOf, slowedDown, takePlaces, type RequestPace } from '../../domain/request-pace.ts';
import type { Database, Queries } from '../database/database.ts';
import type { PaceRow } from './service-use-sql.ts';
import {
  CONFIRM_ACCOUNT,
  COUNT_SENDERS,
  FIND_ACCOUNT,
  FIND_USED_ACCOUNT,
  FORGET_EXPIRED_SLOTS,
  FORGET_MERCHANTS,
  HOLD_REQUESTS,
  LEASE_SLOTS,
  LOCK_PACE,
  LOCK_SLOTS,
  READ_PACE,
  RELEASE_SLOTS,
  REMEMBER_ACCOUNT,
  WRITE_PACE,
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

    async leasePace(baseUrl, { requests, requestsPerSecond: limit }) {
      return database.transaction(async (queries) => {
        const row = await lockPace(queries, baseUrl);
        const { pace, waitMs, gapMs } = takePlaces(paceOf(row), { requests, limit, now: row.now });
        await writePace(queries, baseUrl, pace);
        return { waitMs, gapMs, ...newsOf(row, pace, limit) };
      });
    },

    async paceNews(baseUrl, limit) {
      const [row] = await database.query<PaceRow>(READ_PACE, [baseUrl]);
      return row === undefined ? { requestsPerSecond: limit, heldMs: 0 } : newsOf(row, paceOf(row), limit);
    },

    async slowDown(baseUrl, { requestsPerSecond: limit, tooMany }) {
      return database.transaction(async (queries) => {
        const row = await lockPace(queries, baseUrl);
        const [counted] = await queries.query<{ senders: number }>(COUNT_SENDERS, [baseUrl]);
        const taken = tooMany.taken * Math.max(1, counted?.senders ?? 1);
        const pace = slowedDown(paceOf(row), { tooMany: { ...tooMany, taken }, limit, now: row.now });
        await writePace(queries, baseUrl, pace);
        return newsOf(row, pace, limit);
      });
    },

    async holdRequests(baseUrl, ms) {
      await database.query(HOLD_REQUESTS, [baseUrl, ms]);
    },

    async leaseSlots(baseUrl, { holder, max, ttlMs }) {
      return database.transaction(async (queries) => {
        await queries.query(LOCK_SLOTS, [baseUrl]);
        await queries.query(FORGET_EXPIRED_SLOTS, [baseUrl]);
        const [row] = await queries.query<{ slots: number }>(LEASE_SLOTS, [baseUrl, holder, max, ttlMs]);
        return row?.slots ?? 0;
      });
    },

    async releaseSlots(baseUrl, holder) {
      await database.query(RELEASE_SLOTS, [baseUrl, holder]);
    },
  };
}

async function lockPace(queries: Queries, baseUrl: string): Promise<PaceRow> {
  const [row] = await queries.query<PaceRow>(LOCK_PACE, [baseUrl]);
  if (row === undefined) throw new LoteError('internal', 'Taking the pace of a base address: its row was not locked.');
  return row;
}

function paceOf({ next_at, slowed_to, slowed_from, slowed_at }: PaceRow): RequestPace {
  return { nextAt: next_at, slowed: slowed_to === null ? null : { to: slowed_to, from: slowed_from, at: slowed_at } };
}

async function writePace(queries: Queries, baseUrl: string, { nextAt, slowed }: RequestPace): Promise<void> {
  await queries.query(WRITE_PACE, [baseUrl, nextAt, slowed?.to ?? null, slowed?.from ?? 0, slowed?.at ?? 0]);
}

function newsOf(row: PaceRow, pace: RequestPace, limit: number | null): PaceNews {
  return { requestsPerSecond: rateOf(pace, limit, row.now), heldMs: Math.max(0, row.held_until - row.now) };
}
