import type { BreakerLedger } from '../../domain/ports/ledger.ts';
import type { Database } from '../database/database.ts';
import type { BreakerRow } from './breakers-sql.ts';
import { CLAIM_PROBE, CLOSE_BREAKER, FIND_BREAKER, OPEN_BREAKER } from './breakers-sql.ts';

/** One row per base address: batch-wide trouble that every process of this ledger must know of. */
export function createBreaker(database: Database): BreakerLedger {
  return {
    async breaker(baseUrl) {
      const [row] = await database.query<BreakerRow>(FIND_BREAKER, [baseUrl]);
      if (row === undefined) return null;
      const reason = { code: row.reason_code, message: row.reason_message };
      return {
        baseUrl: row.base_url,
        reason,
        openedAt: row.opened_at,
        probeAfter: row.probe_after,
        probingUntil: row.probing_until,
      };
    },

    async openBreaker({ baseUrl, reason, openedAt, probeAfter }) {
      await database.query(OPEN_BREAKER, [baseUrl, reason.code, reason.message, openedAt, probeAfter]);
    },

    async closeBreaker(baseUrl) {
      await database.query(CLOSE_BREAKER, [baseUrl]);
    },

    async claimProbe(baseUrl, { now, until }) {
      return (await database.query(CLAIM_PROBE, [baseUrl, now, until])).length > 0;
    },
  };
}
