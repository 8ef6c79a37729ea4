import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchRecord, ClaimingRun, OutcomeCount } from '../../domain/records/batch-record.ts';
import type { DurationHistogram } from '../../domain/time/duration-histogram.ts';
import { foundBatch, LOCK_BATCH } from '../batches/batch.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES, recordset } from '../database/sql.ts';

/** What a report says of its batch in numbers: small, and without names, so that years of them can be drawn. */
export interface BatchFigures {
  /** Invoices by outcome; none: left out. An issued invoice that another batch owns counts as `already-issued` in all these figures. */
  readonly states: Readonly<Partial<Record<Outcome, number>>>;
  /** Exact net sums by currency, which is null where it could not be read. */
  readonly money: readonly MoneyFigures[];
  /** From the first POST to the final word of the service. */
  readonly settling: DurationHistogram;
  /** Why invoices are not confirmed as issued: the ten largest groups. */
  readonly reasons: readonly { readonly state: Outcome; readonly code: string; readonly invoices: number }[];
  /** Invoices that went out and are in doubt; left out: none, or an older report does not say it. */
  readonly contradicted?: number;
  /** The balance of the batch; left out: an older report has none. */
  readonly outcomes?: readonly OutcomeCount[];
}

/** Exact net sums of one currency, canonical decimals. */
export interface MoneyFigures {
  readonly currency: string | null;
  /** Of all invoices. */
  readonly net: string;
  /** Of those that were issued and that this batch owns. */
  readonly out: string;
  /** Of those that another file has issued; left out: they are in `out`, as an older report has it. */
  readonly before?: string;
}

/** A batch of the last nights. `figures` is null while it has no report, or one of a Lote that kept none. */
export interface BatchInFigures {
  readonly application: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly figures: BatchFigures | null;
}

/** What one report said of an invoice that may still change. */
export interface ReportedOutcome {
  readonly ordinal: number;
  readonly state: Outcome;
  readonly generation: number;
}

/** Invoices that moved since the report that stands, by the same way. */
export interface ReportChange {
  readonly from: Outcome;
  readonly to: Outcome;
  readonly invoices: number;
  /** References of the first of them. */
  readonly examples: readonly string[];
}

/** A batch, and the run that held its claim last. */
export interface BatchRun extends ClaimingRun {
  readonly batchId: string;
}

/** What changed in a batch since its last report was written. */
export interface SinceReport {
  /** 0: there was no report. */
  readonly revision: number;
  readonly changes: readonly ReportChange[];
  /** What a report says beyond states, as it is now; handed back to `noteReported`. */
  readonly mark: string;
  /** The mark is another one than that of the report: invoices were flagged, are in doubt or no longer so, or reasons and findings have changed. */
  readonly isFlagged: boolean;
  /** Invoices that were in doubt when that report was written (`Contradicted`). */
  readonly contradicted: number;
}

/** What one report said, to be remembered. */
interface NoteReported {
  readonly revision: number;
  readonly writtenAt: number;
  /** Of `sinceReport`, asked before the report was read: what changes meanwhile makes the report outdated. */
  readonly mark: string;
  readonly open: readonly ReportedOutcome[];
  /** Left out: pictures leave the batch out. */
  readonly figures?: BatchFigures;
}

/** References that are named of each kind of change. */
const EXAMPLES = 5;

/** Rows of one set statement. */
const PORTION = 5_000;

/** since, limit. One row a file, and no invoice is read. */
const BATCH_FIGURES = `/* batch-figures */
SELECT application, started_at, figures::json AS figures FROM batch WHERE started_at >= $1 ORDER BY seq DESC LIMIT $2`;

const REPORT_FIGURES = `/* report-figures */
SELECT figures::json AS figures FROM batch WHERE batch_id = $1`;

/** Lines of the last report `r` of batch `b` that may still change, as they are now. */
const REPORTED_LINES = `report_outcome r JOIN batch_line l ON l.batch_id = r.batch_id AND l.ordinal = r.ordinal`;
const HAS_CHANGED = `(r.state <> l.state OR r.generation <> l.generation)`;

/** batchId: the figures of the last report, while each state that it says still holds. A batch that was closed again since has a later end. */
const REPORTED_OUTCOMES = `/* reported-outcomes */
SELECT b.figures::json AS figures, b.invoices FROM batch b
WHERE b.batch_id = $1 AND b.state IN ('finished', 'cancelled') AND b.reported_at >= b.finished_at AND b.figures IS NOT NULL
  AND NOT EXISTS (SELECT FROM ${REPORTED_LINES} WHERE r.batch_id = b.batch_id AND r.state <> l.state)`;

/**
 * What a report of batch `b` says beyond states: its news (reasons and findings that have changed), the flags of its few invoices with flags, and how many
 * of these are in doubt.
 */
const MARK = `(SELECT concat_ws(' ', b.news, coalesce(sum(cardinality(l.flags)), 0), count(*) FILTER (WHERE cardinality(l.contradictions) > 0))
  FROM batch_line l
  WHERE l.batch_id = b.batch_id AND l.invoice_id = ANY(ARRAY(SELECT invoice_id FROM invoice WHERE flags <> '{}')))`;

/** application: closed batches whose last report says something that is no longer so. */
const OUTDATED_REPORTS = `/* outdated-reports */
SELECT b.batch_id FROM batch b
WHERE b.state IN ${CLOSED_BATCH_STATES} AND b.application = $1 AND b.reported_revision IS NOT NULL AND (
  EXISTS (SELECT FROM ${REPORTED_LINES} WHERE r.batch_id = b.batch_id AND ${HAS_CHANGED})
  OR b.reported_mark <> ${MARK})
ORDER BY b.seq`;

/**
 * application: closed batches of which no report was written since they ended, and the run that closed each. An earlier report says nothing of what is open
 * now.
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

/** batchId, how many references of each kind. An invoice that failed again under a new key has changed too. */
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

/** batchId, revision, writtenAt, mark, figures or null: no row when a newer report was noted before. */
const MARK_REPORT = `/* mark-report */
UPDATE batch SET reported_revision = $2, reported_at = $3, reported_mark = $4, figures = $5
WHERE batch_id = $1 AND coalesce(reported_revision, 0) <= $2
RETURNING batch_id`;

/** What reports said of invoices that may still change, and in numbers. */
export function createReportMarks(database: Database) {
  return {
    /** Batches whose files were read since then (epoch milliseconds), newest first, at most `limit`. */
    batchFigures: (since: number, limit: number) => database.query<BatchInFigures>(BATCH_FIGURES, [since, limit]),

    /** What the last report of a batch said in numbers. Null: it has none, or one of a Lote that kept none. */
    reportFigures: async (batchId: string): Promise<BatchFigures | null> =>
      (await database.query<Pick<BatchInFigures, 'figures'>>(REPORT_FIGURES, [batchId]))[0]?.figures ?? null,

    /** The balance of a closed batch from its last report: `countOutcomes` without counting. Null: no report of its last run tells it as it is now. */
    async reportedOutcomes(batchId: string): Promise<readonly OutcomeCount[] | null> {
      const [row] = await database.query<{ figures: BatchFigures; invoices: number }>(REPORTED_OUTCOMES, [batchId]);
      if (row === undefined) return null;
      const { outcomes = [] } = row.figures;
      // A report that does not add up tells nothing.
      return outcomes.reduce((sum, { invoices }) => sum + invoices, 0) === row.invoices ? outcomes : null;
    },

    /** Closed batches of which the report that stands says something that is no longer so. */
    async outdatedReports(application: string): Promise<readonly string[]> {
      return (await database.query<BatchRun>(OUTDATED_REPORTS, [application])).map(({ batchId }) => batchId);
    },

    /** Closed batches of which no report was written since they ended, purged or not, each with the run that closed it. */
    unreportedBatches: (application: string) => database.query<BatchRun>(UNREPORTED_BATCHES, [application]),

    async sinceReport(batchId: string): Promise<SinceReport> {
      const [found] = await database.query<Omit<SinceReport, 'changes'>>(FIND_REPORT, [batchId]);
      const changes = await database.query<ReportChange>(REPORT_CHANGES, [batchId, EXAMPLES]);
      return { ...(found ?? { revision: 0, mark: '', isFlagged: false, contradicted: 0 }), changes };
    },

    /** Remembers what a report said of invoices that may still change. Returns false, and writes nothing, when a newer report was noted before. */
    async noteReported(batchId: string, report: NoteReported): Promise<boolean> {
      const { revision, writtenAt, mark, open, figures } = report;
      return database.transaction(async (queries) => {
        const [batch] = await queries.query<BatchRecord>(LOCK_BATCH, [batchId]);
        foundBatch(batchId, batch);
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
