import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { MeasuredLag, MeasuringLedger } from '../../domain/ports/measures.ts';
import { contradictedLines } from '../batches/contradictions-sql.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';

/** States in which a POST has left or may have left, and no final word has come. */
const WITHOUT_FINAL_WORD = `('sending', 'accepted', 'unknown', 'unsettled')`;

/** application. */
const COUNT_BATCHES = `/* count-batches */
SELECT state, count(*) AS batches FROM batch WHERE application = $1 GROUP BY state`;

/** That the report of batch `b` left something without a final word, or since $3 held, which nobody has cancelled. */
const HAS_LEFT = `EXISTS (
    SELECT FROM report_outcome r
    WHERE r.batch_id = b.batch_id
      AND (r.state IN ${WITHOUT_FINAL_WORD} OR (r.state = 'held' AND b.state = 'finished' AND b.finished_at >= $3))
  )`;

/** application, closed since, closed with held invoices since, limit. Those at rest come last: the limit must not cut what somebody waits for. */
const MEASURED_BATCHES = `/* measured-batches */
SELECT b.batch_id, b.state, b.revision
FROM batch b
WHERE b.application = $1 AND (b.state NOT IN ${CLOSED_BATCH_STATES} OR b.finished_at >= $2 OR ${HAS_LEFT})
ORDER BY (b.state NOT IN ${CLOSED_BATCH_STATES} OR ${HAS_LEFT}) DESC, b.seq DESC
LIMIT $4`;

/** batchId. The states are those of the report. */
const MEASURE_INVOICES = `/* measure-invoices */
SELECT coalesce(bi.outcome, i.state) AS state, count(*) AS invoices,
  min(CASE
    WHEN bi.outcome IS NOT NULL OR i.state NOT IN ${WITHOUT_FINAL_WORD} THEN NULL
    WHEN i.state IN ('accepted', 'unsettled') THEN coalesce(i.accepted_at, i.changed_at)
    ELSE coalesce(i.first_sent_at, i.changed_at)
  END) AS oldest_at
FROM batch_invoice bi LEFT JOIN ${INVOICE_OF_LINE}
WHERE bi.batch_id = $1
GROUP BY 1`;

/** application, since. An invoice of two batches is one invoice. A report is written again when doubt comes after the end of its batch. */
const MEASURE_DOUBT = `/* measure-doubt */
SELECT count(DISTINCT i.invoice_id) AS invoices
${contradictedLines(`bi.batch_id IN (
    SELECT b.batch_id FROM batch b LEFT JOIN report_mark m ON m.batch_id = b.batch_id
    WHERE b.application = $1 AND (b.state NOT IN ${CLOSED_BATCH_STATES} OR b.finished_at >= $2 OR m.written_at >= $2))`)}`;

/** Arrays: batchId, ordinal. */
const MEASURE_LAG = `/* measure-lag */
SELECT i.state, greatest(0, i.settled_at - i.accepted_at) AS lag_ms
FROM unnest($1::text[], $2::integer[]) AS u(batch_id, ordinal)
JOIN batch_invoice bi ON bi.batch_id = u.batch_id AND bi.ordinal = u.ordinal
JOIN ${INVOICE_OF_LINE}
WHERE i.state IN ('issued', 'failed') AND i.accepted_at IS NOT NULL AND i.settled_at IS NOT NULL`;

/** Reads for the metrics. */
export function createMeasuring(database: Database): MeasuringLedger {
  return {
    async countBatches(application) {
      const rows = await database.query<{ state: BatchState; batches: number }>(COUNT_BATCHES, [application]);
      return Object.fromEntries(rows.map(({ state, batches }) => [state, batches]));
    },

    async measuredBatches(application, { closedSince, heldSince, limit }) {
      const rows = await database.query<{ batch_id: string; state: BatchState; revision: number }>(MEASURED_BATCHES, [
        application,
        closedSince,
        heldSince,
        limit,
      ]);
      return rows.map(({ batch_id: batchId, state, revision }) => ({ batchId, state, revision }));
    },

    async measureInvoices(batchId) {
      const rows = await database.query<{ state: Outcome; invoices: number; oldest_at: number | null }>(
        MEASURE_INVOICES,
        [batchId],
      );
      return rows.map(({ state, invoices, oldest_at: oldestAt }) => ({ state, invoices, oldestAt }));
    },

    async measureDoubt(application, { since }) {
      const [row] = await database.query<{ invoices: number }>(MEASURE_DOUBT, [application, since]);
      return row?.invoices ?? 0;
    },

    async measureLag(invoices) {
      const rows = await database.query<{ state: MeasuredLag['state']; lag_ms: number }>(MEASURE_LAG, [
        column(invoices, (one) => one.batchId),
        column(invoices, (one) => one.ordinal),
      ]);
      return rows.map(({ state, lag_ms: ms }) => ({ state, ms }));
    },
  };
}
