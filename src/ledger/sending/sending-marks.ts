import type { SendingMark, SendingMarkLedger } from '../../domain/ports/ledger/sending-mark-ledger.ts';
import { TRANSITIONS } from '../../domain/invoice-state.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import type { Database } from '../database/database.ts';
import { stateList } from '../database/states.ts';
import { IS_DOUBTFUL } from '../settling/other-document-sql.ts';

/** scope, ledgerId. */
const RAISE_MARK = `/* raise-sending-mark */
UPDATE sending_mark SET number = number + 1 WHERE scope = $1 AND ledger_id = $2 RETURNING number`;

/**
 * scope, ledgerId. The first mark of a scope is 1 only if nothing was sent before it. In a ledger that has sent already, for another scope or
 * before there were marks, it is 2: a copy without a mark then does not know since when it lacks invoices.
 */
const FIRST_MARK = `/* first-sending-mark */
INSERT INTO sending_mark (scope, ledger_id, number)
SELECT $1, $2, CASE WHEN EXISTS (SELECT FROM invoice WHERE first_sent_at IS NOT NULL) THEN 2 ELSE 1 END
ON CONFLICT (scope, ledger_id) DO UPDATE SET number = sending_mark.number + 1 RETURNING number`;

/** scope. */
const SENDING_MARKS = `/* sending-marks */
SELECT ledger_id, number, gap_since FROM sending_mark WHERE scope = $1`;

/** ledgerId. */
const OWN_MARKS = `/* own-sending-marks */
SELECT scope, ledger_id, number, gap_since FROM sending_mark WHERE ledger_id = $1`;

/** scope, ledgerId, number, gapSince. GREATEST and LEAST pass over NULL. */
const NOTE_GAP = `/* note-sending-gap */
INSERT INTO sending_mark (scope, ledger_id, number, gap_since) VALUES ($1, $2, $3, $4)
ON CONFLICT (scope, ledger_id) DO UPDATE SET number = greatest(sending_mark.number, excluded.number),
  gap_since = least(sending_mark.gap_since, excluded.gap_since)`;

/**
 * application: what is at rest and not issued, found by the index of what has a reason. It may have been sent, or sent again, while the ledger did not
 * hear of it.
 */
const FLAG_DOUBTFUL = `/* flag-doubtful */
WITH target AS (
  SELECT i.invoice_id FROM invoice i
  WHERE i.reason_code IS NOT NULL AND i.application = $1 AND i.state IN ${stateList(['held', ...TRANSITIONS.regenerate.from])}
    AND NOT ${IS_DOUBTFUL}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET flags = i.flags || '{${OLDER_LEDGER}}'::text[]
FROM target t
WHERE i.invoice_id = t.invoice_id
RETURNING i.invoice_id`;

/** scope. */
const CLOSE_GAPS = `/* close-sending-gaps */
UPDATE sending_mark SET gap_since = NULL WHERE scope = $1`;

interface MarkRow {
  readonly ledger_id: string;
  readonly number: number;
  readonly gap_since: number | null;
}

function markOf(row: MarkRow): SendingMark {
  return { ledgerId: row.ledger_id, number: row.number, gapSince: row.gap_since };
}

/** The marks of sending, one row for each account and ledger. */
export function createSendingMarks(database: Database): SendingMarkLedger {
  return {
    async raiseSendingMark(scope, ledgerId) {
      const [raised] = await database.query<{ number: number }>(RAISE_MARK, [scope, ledgerId]);
      if (raised !== undefined) return raised.number;
      const [first] = await database.query<{ number: number }>(FIRST_MARK, [scope, ledgerId]);
      return first?.number ?? 0;
    },
    async sendingMarks(scope) {
      const rows = await database.query<MarkRow>(SENDING_MARKS, [scope]);
      return rows.map(markOf);
    },
    async ownSendingMarks(ledgerId) {
      const rows = await database.query<MarkRow & { readonly scope: string }>(OWN_MARKS, [ledgerId]);
      return new Map(rows.map((row) => [row.scope, markOf(row)]));
    },
    async noteSendingGap(scope, { ledgerId, number, gapSince }) {
      await database.query(NOTE_GAP, [scope, ledgerId, number, gapSince]);
    },
    async closeSendingGaps(scope, application) {
      return database.transaction(async (queries) => {
        const flagged = await queries.query(FLAG_DOUBTFUL, [application]);
        await queries.query(CLOSE_GAPS, [scope]);
        return flagged.length;
      });
    },
  };
}
