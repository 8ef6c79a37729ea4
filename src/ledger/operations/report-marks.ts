import type { Outcome } from '../../domain/invoice-state.ts';
import type { OutcomeCount } from '../../domain/records/batch-record.ts';
import type { DurationHistogram } from '../../domain/time/duration-histogram.ts';
import { lockBatch } from '../batches/batch.ts';
import type { SendingBatch } from '../sending/sending-control.ts';
import type { Database } from '../../database/database.ts';
import { CLOSED_BATCH_STATES, recordset } from '../sql.ts';

/** The numbers of a batch's report: small and without names, so that charts can cover years of them. */
export interface BatchFigures {
  /** Invoices by outcome, without empty outcomes. An issued invoice that another batch owns counts as `already-issued` in all these figures. */
  readonly states: Readonly<Partial<Record<Outcome, number>>>;
  /** Exact net sums by currency; the currency is null if Lote could not read it. */
  readonly money: readonly MoneyFigures[];
  /** Durations from the first POST to the final word of the service. */
  readonly settling: DurationHistogram;
  /** Why invoices are not confirmed as issued: the ten largest groups. */
  readonly reasons: readonly { readonly state: Outcome; readonly code: string; readonly invoices: number }[];
  /** Number of sent invoices in doubt. Absent if there are none, or in an older report. */
  readonly contradicted?: number;
  /** The balance of the batch. Absent in an older report. */
  readonly outcomes?: readonly OutcomeCount[];
}

/** Exact net sums of one currency, canonical decimals. */
export interface MoneyFigures {
  readonly currency: string | null;
  /** The sum of all invoices. */
  readonly net: string;
  /** The sum of issued invoices that this batch owns. */
  readonly out: string;
  /** The sum of invoices that another file issued. Absent in an older report, which includes them in `out`. */
  readonly before?: string;
}

/** A batch of the last nights. `figures` is null if the batch has no report, or a report of an old Lote without figures. */
export interface BatchInFigures {
  readonly application: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly figures: BatchFigures | null;
}

/** One report's outcome of an invoice that may still change. */
export interface ReportedOutcome {
  readonly ordinal: number;
  readonly state: Outcome;
  readonly generation: number;
}

/** Invoices that moved from one outcome to another since the last report. */
export interface ReportChange {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly invoices: number;
  /** References of the first of these invoices. */
  readonly examples: readonly string[];
}

/** Changes in a batch since its last report was written. */
export interface SinceReport {
  /** 0 if there was no report. */
  readonly revision: number;
  readonly changes: readonly ReportChange[];
  /** The present mark: a summary of report content beyond states. The caller passes it to `noteReported`. */
  readonly mark: string;
  /** True if the mark differs from the report's: invoices were flagged, doubts arose or ended, or reasons and findings changed. */
  readonly isFlagged: boolean;
  /** Number of invoices in doubt when that report was written (`Contradicted`). */
  readonly contradicted: number;
}

/** The content of one report that the ledger must remember. */
interface NoteReported {
  readonly revision: number;
  readonly writtenAt: number;
  /** The mark of `sinceReport` from before the report was read, so that a change in the meantime makes the report outdated. */
  readonly mark: string;
  readonly open: readonly ReportedOutcome[];
  /** If absent, charts leave the batch out. */
  readonly figures?: BatchFigures;
}

const EXAMPLES = 5;

const PORTION = 5_000;

/** Parameters: since, limit. Reads one row for each file, and no invoices. */
const BATCH_FIGURES = `/* batch-figures */
SELECT application, started_at, figures::json AS figures FROM batch WHERE started_at >= $1 ORDER BY seq DESC LIMIT $2`;

/** SQL: the present lines of those invoices of batch `b` that could still change when its last report was written (`r`). */
const REPORTED_LINES = `report_outcome r JOIN batch_line l ON l.batch_id = r.batch_id AND l.ordinal = r.ordinal`;
const HAS_CHANGED = `(r.state <> l.state OR r.generation <> l.generation)`;

/** Parameter: batchId. The figures of the last report, if all its states still hold. A batch that was closed again after its report has a later end. */
const REPORTED_OUTCOMES = `/* reported-outcomes */
SELECT b.figures::json AS figures, b.invoices FROM batch b
WHERE b.batch_id = $1 AND b.state IN ('finished', 'cancelled') AND b.reported_at >= b.finished_at AND b.figures IS NOT NULL
  AND NOT EXISTS (SELECT FROM ${REPORTED_LINES} WHERE r.batch_id = b.batch_id AND r.state <> l.state)`;

/**
 * The mark of batch `b`, a text that changes with the content of its report, states excepted. It has three numbers:
 * `news` (changed reasons and findings), the flags of the batch's invoices, and its flagged invoices in doubt.
 */
const MARK = `(SELECT concat_ws(' ', b.news, coalesce(sum(cardinality(l.flags)), 0), count(*) FILTER (WHERE cardinality(l.contradictions) > 0))
  FROM batch_line l
  WHERE l.batch_id = b.batch_id AND l.invoice_id = ANY(ARRAY(SELECT invoice_id FROM invoice WHERE flags <> '{}')))`;

/** Parameter: application. Closed batches whose last report is outdated. */
const OUTDATED_REPORTS = `/* outdated-reports */
SELECT b.batch_id FROM batch b
WHERE b.state IN ${CLOSED_BATCH_STATES} AND b.application = $1 AND b.reported_revision IS NOT NULL AND (
  EXISTS (SELECT FROM ${REPORTED_LINES} WHERE r.batch_id = b.batch_id AND ${HAS_CHANGED})
  OR b.reported_mark <> ${MARK})
ORDER BY b.seq`;

/**
 * Parameter: application. Closed batches without a report since their end, with the run that closed each. An earlier
 * report does not show the present open invoices.
 */
const UNREPORTED_BATCHES = `/* unreported-batches */
SELECT b.batch_id, b.workflow_id, b.run_id FROM batch b
WHERE b.application = $1 AND b.state IN ${CLOSED_BATCH_STATES}
  AND (b.reported_at IS NULL OR b.reported_at < coalesce(b.finished_at, 0))
ORDER BY b.seq`;

const FIND_REPORT = `/* find-report */
SELECT coalesce(b.reported_revision, 0) AS revision, ${MARK} AS mark, coalesce(b.reported_mark <> ${MARK}, false) AS is_flagged,
  coalesce((b.figures::json ->> 'contradicted')::integer, 0) AS contradicted
FROM batch b WHERE b.batch_id = $1`;

/** Parameters: batchId, number of references of each kind. An invoice that failed again under a new key counts as changed. */
const REPORT_CHANGES = `/* report-changes */
SELECT r.state AS "from", l.state AS "to", count(*) AS invoices, (array_agg(l.ref ORDER BY l.ordinal))[1:$2::integer] AS examples
FROM ${REPORTED_LINES}
WHERE r.batch_id = $1 AND ${HAS_CHANGED}
GROUP BY 1, 2
ORDER BY 1, 2`;

const FORGET_REPORTED = `/* forget-reported */
DELETE FROM report_outcome WHERE batch_id = $1`;

const INSERT_REPORTED = `/* insert-reported */
INSERT INTO report_outcome SELECT * FROM json_populate_recordset(NULL::report_outcome, $1::text::json)`;

/** Parameters: batchId, revision, writtenAt, mark, figures or null. Returns no row if the ledger has a newer report. */
const MARK_REPORT = `/* mark-report */
UPDATE batch SET reported_revision = $2, reported_at = $3, reported_mark = $4, figures = $5
WHERE batch_id = $1 AND coalesce(reported_revision, 0) <= $2
RETURNING batch_id`;

/** Remembers the reports' figures and their outcomes of invoices that may still change. */
export function createReportMarks(database: Database) {
  return {
    /** Returns at most `limit` batches, newest first, whose files Lote read since `since` (epoch milliseconds). */
    batchFigures: (since: number, limit: number) => database.query<BatchInFigures>(BATCH_FIGURES, [since, limit]),

    /** Returns the balance of a closed batch from its last report, as `countOutcomes` without counting; null if that report is outdated or missing. */
    async reportedOutcomes(batchId: string): Promise<readonly OutcomeCount[] | null> {
      const [row] = await database.query<{ figures: BatchFigures; invoices: number }>(REPORTED_OUTCOMES, [batchId]);
      if (row === undefined) return null;
      const { outcomes = [] } = row.figures;
      // Ignores a report whose numbers do not add up.
      return outcomes.reduce((sum, { invoices }) => sum + invoices, 0) === row.invoices ? outcomes : null;
    },

    /** Returns the closed batches whose last report is outdated. */
    async outdatedReports(application: string): Promise<readonly string[]> {
      return (await database.query<SendingBatch>(OUTDATED_REPORTS, [application])).map(({ batchId }) => batchId);
    },

    /** Returns the closed batches without a report since their end, purged or not, with the run that closed each. */
    unreportedBatches: (application: string) => database.query<SendingBatch>(UNREPORTED_BATCHES, [application]),

    async sinceReport(batchId: string): Promise<SinceReport> {
      const [found] = await database.query<Omit<SinceReport, 'changes'>>(FIND_REPORT, [batchId]);
      const changes = await database.query<ReportChange>(REPORT_CHANGES, [batchId, EXAMPLES]);
      return { ...(found ?? { revision: 0, mark: '', isFlagged: false, contradicted: 0 }), changes };
    },

    /** Remembers a report's outcomes of invoices that may still change. Returns false, and writes nothing, if the ledger has a newer report. */
    async noteReported(batchId: string, report: NoteReported): Promise<boolean> {
      const { revision, writtenAt, mark, open, figures } = report;
      return database.transaction(async (queries) => {
        await lockBatch(queries, { batchId });
        const numbers = figures === undefined ? null : JSON.stringify(figures);
        const noted = await queries.query(MARK_REPORT, [batchId, revision, writtenAt, mark, numbers]);
        if (noted.length === 0) return false;
        await queries.query(FORGET_REPORTED, [batchId]);
        for (let from = 0; from < open.length; from += PORTION) {
          const portion = open.slice(from, from + PORTION);
          await queries.query(INSERT_REPORTED, [
            recordset(portion.map(({ ordinal, state, generation }) => ({ batchId, ordinal, state, generation }))),
          ]);
        }
        return true;
      });
    },
  };
}
