import type { SendingMark, SendingMarkLedger } from '../../domain/ports/ledger/sending-mark-ledger.ts';
import { OLDER_LEDGER, RETRY_STATES } from '../../domain/retry-decision.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES, fromStates, stateList } from '../database/states.ts';
import { LEFT_OPEN } from '../operations/reconciling-sql.ts';
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

/** What goes again at somebody's word, or by the retry policy. */
const RETRYABLE = stateList(RETRY_STATES);

const TO_FLAG = `i.application = $1 AND (i.state IN ${RETRYABLE} OR i.state IN ${fromStates('fail')}) AND NOT ${IS_DOUBTFUL}`;

/**
 * application: what is not issued, and is at rest or comes to rest when its failure is heard of. It may have been sent, or sent again, while the ledger did
 * not hear of it. Most of it is found by the index of what has a reason; what is `accepted` has none, and is one that the last report of a batch left
 * open, or of a batch without such a report.
 */
const FLAG_DOUBTFUL = `/* flag-doubtful */
WITH pending AS (
  (${LEFT_OPEN})
  UNION
  SELECT bi.invoice_id
  FROM batch b JOIN batch_invoice bi ON bi.batch_id = b.batch_id
  WHERE b.application = $1 AND bi.outcome IS NULL AND bi.invoice_id IS NOT NULL
    AND (b.state NOT IN ${CLOSED_BATCH_STATES} OR NOT EXISTS (
      SELECT FROM report_mark m WHERE m.batch_id = b.batch_id AND m.written_at >= coalesce(b.finished_at, 0)))
), target AS (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id = ANY(ARRAY(
    SELECT i.invoice_id FROM invoice i WHERE i.reason_code IS NOT NULL AND ${TO_FLAG}
    UNION
    SELECT i.invoice_id FROM pending bi JOIN ${INVOICE_OF_LINE} WHERE ${TO_FLAG}
  )) AND ${TO_FLAG}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET flags = i.flags || '{${OLDER_LEDGER}}'::text[]
FROM target t
WHERE i.invoice_id = t.invoice_id
RETURNING i.state IN ${RETRYABLE} AS retryable`;

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
        const flagged = await queries.query<{ retryable: boolean }>(FLAG_DOUBTFUL, [application]);
        await queries.query(CLOSE_GAPS, [scope]);
        return flagged.filter((one) => one.retryable).length;
      });
    },
  };
}
