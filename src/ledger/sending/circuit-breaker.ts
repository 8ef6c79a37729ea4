import type { BreakerLedger } from '../../domain/ports/ledger/breaker-ledger.ts';
import type { Database } from '../database/database.ts';

interface BreakerRow {
  readonly base_url: string;
  readonly reason_code: string;
  readonly reason_message: string;
  readonly opened_at: number;
  readonly probe_after: number;
  readonly probing_until: number | null;
}

/** baseUrl. */
const FIND_BREAKER = `/* find-breaker */
SELECT base_url, reason_code, reason_message, opened_at, probe_after, probing_until FROM breaker WHERE base_url = $1`;

/** baseUrl, reason code, reason message, openedAt, probeAfter. An open breaker keeps the time since which it is open. */
const OPEN_BREAKER = `/* open-breaker */
INSERT INTO breaker (base_url, reason_code, reason_message, opened_at, probe_after) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (base_url) DO UPDATE SET reason_code = excluded.reason_code, reason_message = excluded.reason_message,
  opened_at = least(breaker.opened_at, excluded.opened_at), probe_after = excluded.probe_after, probing_until = NULL`;

/** baseUrl, now, until: of all who see that the time has come, one gets the row. */
const CLAIM_PROBE = `/* claim-probe */
UPDATE breaker SET probing_until = $3
WHERE base_url = $1 AND probe_after <= $2 AND (probing_until IS NULL OR probing_until <= $2)
RETURNING base_url`;

/** baseUrl. */
const CLOSE_BREAKER = `/* close-breaker */
DELETE FROM breaker WHERE base_url = $1`;

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
