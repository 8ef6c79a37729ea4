import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/records/batch-record.ts';
import { IS_CONTRADICTED } from '../batches/lines.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { CLOSED_BATCH_STATES } from '../sql.ts';

/** A batch whose invoices the metrics count. */
export interface MeasuredBatch {
  readonly batchId: string;
  readonly state: BatchState;
  /** The report's revision. The counts of a closed batch change only with it. */
  readonly revision: number;
}

/** The invoices of one batch in one state. */
export interface MeasuredState {
  readonly state: Outcome;
  readonly invoices: number;
  /** First POST or acceptance of the oldest invoice without a final word, epoch milliseconds; null if no invoice waits. */
  readonly oldestAt: number | null;
}

/** States in which a POST has left or may have left, and no final word has come. */
const WITHOUT_FINAL_WORD = `('sending', 'accepted', 'unknown', 'unsettled')`;

const COUNT_BATCHES = `/* count-batches */
SELECT state, count(*) AS batches FROM batch WHERE application = $1 GROUP BY state`;

/** SQL condition: the report of batch `b` left invoices without a final word, or held ones if the batch finished since $3 and was not cancelled. */
const HAS_LEFT = `EXISTS (
    SELECT FROM report_outcome r
    WHERE r.batch_id = b.batch_id
      AND (r.state IN ${WITHOUT_FINAL_WORD} OR (r.state = 'held' AND b.state = 'finished' AND b.finished_at >= $3))
  )`;

/** Parameters: application, closed since, closed with held invoices since, limit. Batches with nothing open come last, and are cut off first. */
const MEASURED_BATCHES = `/* measured-batches */
SELECT b.batch_id, b.state, b.revision
FROM batch b
WHERE b.application = $1 AND (b.state NOT IN ${CLOSED_BATCH_STATES} OR b.finished_at >= $2 OR ${HAS_LEFT})
ORDER BY (b.state NOT IN ${CLOSED_BATCH_STATES} OR ${HAS_LEFT}) DESC, b.seq DESC
LIMIT $4`;

/** Parameter: batchId. The states are those of the report. */
const MEASURE_INVOICES = `/* measure-invoices */
SELECT l.state, count(*) AS invoices,
  min(CASE
    WHEN l.outcome IS NOT NULL OR l.state NOT IN ${WITHOUT_FINAL_WORD} THEN NULL
    WHEN l.state IN ('accepted', 'unsettled') THEN coalesce(l.accepted_at, l.changed_at)
    ELSE coalesce(l.sent_at, l.changed_at)
  END) AS oldest_at
FROM batch_line l
WHERE l.batch_id = $1
GROUP BY 1`;

/** Parameters: application, since. Counts an invoice of two batches once. Lote writes a report again when doubt arises after the end of its batch. */
const MEASURE_DOUBT = `/* measure-doubt */
SELECT count(DISTINCT l.invoice_id) AS invoices FROM batch_line l
WHERE ${IS_CONTRADICTED} AND l.batch_id IN (
  SELECT b.batch_id FROM batch b
  WHERE b.application = $1 AND (b.state NOT IN ${CLOSED_BATCH_STATES} OR b.finished_at >= $2 OR b.reported_at >= $2))`;

/** Reads the ledger for the metrics. Each query reads few rows, and no other work waits for its result. */
export function createMeasuring(database: Database) {
  return {
    async countBatches(application: string): Promise<Readonly<Partial<Record<BatchState, number>>>> {
      const rows = await database.query<{ state: BatchState; batches: number }>(COUNT_BATCHES, [application]);
      return Object.fromEntries(rows.map(({ state, batches }) => [state, batches]));
    },

    /**
     * Returns at most `limit` batches, newest first: open ones, and those whose report left invoices without a final
     * word, or held ones if they finished since `heldSince`; then the others that closed since `closedSince`.
     */
    measuredBatches: (
      application: string,
      choice: { readonly closedSince: number; readonly heldSince: number; readonly limit: number },
    ) => {
      const { closedSince, heldSince, limit } = choice;
      return database.query<MeasuredBatch>(MEASURED_BATCHES, [application, closedSince, heldSince, limit]);
    },

    measureInvoices: (batchId: string) => database.query<MeasuredState>(MEASURE_INVOICES, [batchId]),

    /** Counts sent invoices in doubt (`CONTRADICTIONS`) in batches that are open, or that closed or were reported since `since` (epoch milliseconds). */
    async measureDoubt(application: string, { since }: { readonly since: number }): Promise<number> {
      return onlyRow(await database.query<{ invoices: number }>(MEASURE_DOUBT, [application, since])).invoices;
    },
  };
}
