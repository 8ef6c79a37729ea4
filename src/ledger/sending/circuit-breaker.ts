import { LONGEST_PROBE_MS, WITHOUT_PROBE } from '../../domain/circuit-reasons.ts';
import type { BreakerLedger } from '../../domain/ports/ledger/breaker-ledger.ts';
import { isAheadSql } from '../database/ahead-sql.ts';
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

/** Reasons that no probe ends. */
const LASTING = `(${[...WITHOUT_PROBE].map((code) => `'${code}'`).join(', ')})`;

/**
 * baseUrl, reason code, reason message, openedAt, probeAfter. An open breaker keeps the time since which it is open. A reason that only a new start
 * ends is not replaced by one that passes.
 */
const OPEN_BREAKER = `/* open-breaker */
INSERT INTO breaker AS known (base_url, reason_code, reason_message, opened_at, probe_after) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (base_url) DO UPDATE SET reason_code = excluded.reason_code, reason_message = excluded.reason_message,
  opened_at = CASE WHEN excluded.reason_code IN ${LASTING} AND known.reason_code NOT IN ${LASTING}
    THEN excluded.opened_at ELSE least(known.opened_at, excluded.opened_at) END,
  probe_after = excluded.probe_after, probing_until = NULL
WHERE known.reason_code NOT IN ${LASTING} OR excluded.reason_code IN ${LASTING}`;

/** now ($2): neither a probe nor its turn is so far away; a clock that ran ahead wrote it. */
function isLaterThanEver(at: string): string {
  return isAheadSql(at, `${LONGEST_PROBE_MS} + $2`);
}

/** baseUrl, now, until: of all who see that the time has come, one gets the row. */
const CLAIM_PROBE = `/* claim-probe */
UPDATE breaker SET probing_until = $3
WHERE base_url = $1 AND (probe_after <= $2 OR ${isLaterThanEver('probe_after')})
  AND (probing_until IS NULL OR probing_until <= $2 OR ${isLaterThanEver('probing_until')})
RETURNING base_url`;

/** baseUrl, now, the end of the turn. */
const GIVE_BACK_PROBE = `/* give-back-probe */
UPDATE breaker SET probe_after = $2, probing_until = NULL WHERE base_url = $1 AND probing_until = $3`;

/** baseUrl. */
const CLOSE_BREAKER = `/* close-breaker */
DELETE FROM breaker WHERE base_url = $1 AND reason_code NOT IN ${LASTING}`;

/** baseUrl. */
const END_LASTING_STOP = `/* end-lasting-stop */
DELETE FROM breaker WHERE base_url = $1 AND reason_code IN ${LASTING}`;

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

    async endLastingStop(baseUrl) {
      await database.query(END_LASTING_STOP, [baseUrl]);
    },

    async claimProbe(baseUrl, { now, until }) {
      return (await database.query(CLAIM_PROBE, [baseUrl, now, until])).length > 0;
    },

    async giveBackProbe(baseUrl, { now, until }) {
      await database.query(GIVE_BACK_PROBE, [baseUrl, now, until]);
    },
  };
}
