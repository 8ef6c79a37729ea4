import type { ServiceUseLedger } from '../domain/ports/service-use-ledger.ts';
import type { Database } from './database.ts';
import type { PaceRow } from './sql/service-use.ts';
import {
  CONFIRM_ACCOUNT,
  FIND_ACCOUNT,
  FIND_USED_ACCOUNT,
  FORGET_EXPIRED_SLOTS,
  FORGET_MERCHANTS,
  LEASE_PACE,
  LEASE_SLOTS,
  LOCK_SLOTS,
  RELEASE_SLOTS,
  REMEMBER_ACCOUNT,
  SLOW_DOWN,
} from './sql/service-use.ts';

interface AccountRow {
  readonly application: string;
  readonly base_url: string;
  readonly key_fingerprint: string;
}

/** The service as all processes of this ledger use it together. */
export function createServiceUse(database: Database): ServiceUseLedger {
  return {
    async knownAccount(account, now) {
      const { application, baseUrl, keyFingerprint } = account;
      await database.query(REMEMBER_ACCOUNT, [application, baseUrl, keyFingerprint, now]);
      const [row] = await database.query<AccountRow>(FIND_USED_ACCOUNT, [application, baseUrl, keyFingerprint]);
      if (row === undefined) return account;
      return { application: row.application, baseUrl: row.base_url, keyFingerprint: row.key_fingerprint };
    },

    async confirmAccount({ application, baseUrl, keyFingerprint }, now) {
      await database.transaction(async (queries) => {
        const [known] = await queries.query<AccountRow>(FIND_ACCOUNT, [application]);
        const same = known?.base_url === baseUrl && known.key_fingerprint === keyFingerprint;
        if (known !== undefined && !same) await queries.query(FORGET_MERCHANTS, [application]);
        await queries.query(CONFIRM_ACCOUNT, [application, baseUrl, keyFingerprint, now]);
      });
    },

    async leasePace(baseUrl, { requests, requestsPerSecond }) {
      const [row] = await database.query<PaceRow>(LEASE_PACE, [baseUrl, requests, requestsPerSecond]);
      return { waitMs: row?.wait_ms ?? 0, gapMs: row?.gap_ms ?? 0 };
    },

    async slowDown(baseUrl) {
      await database.query(SLOW_DOWN, [baseUrl]);
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
