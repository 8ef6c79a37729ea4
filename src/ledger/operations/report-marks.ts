import type { Outcome } from '../../domain/invoice-state.ts';
import type { ReportMarkLedger } from '../../domain/ports/ledger/reconciling-ledger.ts';
import type { BatchRow } from '../batches/batch-columns-sql.ts';
import { foundBatch } from '../batches/batch-record.ts';
import { LOCK_BATCH } from '../batches/find-batch-sql.ts';
import { contradictedLines } from '../batches/contradictions-sql.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

/** References that are named of each kind of change. */
const EXAMPLES = 5;

/** Rows of one set statement. */
const PORTION = 5_000;

const NOW_SAYS = 'coalesce(bi.outcome, i.state)';
const NOW_GENERATION = 'coalesce(bi.generation, i.generation, 0)';

/** Contradictions of a batch's invoices, counted through the index of the few that have one. */
function flagsOf(batchId: string): string {
  return `(SELECT coalesce(sum(cardinality(f.flags)), 0)::bigint
   FROM invoice f JOIN batch_invoice fb ON fb.invoice_id = f.invoice_id AND fb.batch_id = ${batchId}
   WHERE f.flags <> '{}')`;
}

/** Invoices in doubt: as the mark `m` has it, and as it is now. Null: a report without figures does not say it. */
const SAID_CONTRADICTED =
  "CASE WHEN m.figures IS NOT NULL THEN coalesce((m.figures::json ->> 'contradicted')::integer, 0) END";
function contradictedOf(batchId: string): string {
  return `(SELECT count(*)::integer ${contradictedLines(`bi.batch_id = ${batchId}`)})`;
}

/** application: closed batches whose last report says something that is no longer so. */
const OUTDATED_REPORTS = `/* outdated-reports */
SELECT b.batch_id
FROM report_mark m
JOIN batch b ON b.batch_id = m.batch_id AND b.state IN ('finished', 'cancelled') AND b.application = $1
WHERE EXISTS (
    SELECT 1 FROM report_outcome r
    JOIN batch_invoice bi ON bi.batch_id = r.batch_id AND bi.ordinal = r.ordinal
    LEFT JOIN ${INVOICE_OF_LINE}
    WHERE r.batch_id = b.batch_id AND (r.state <> ${NOW_SAYS} OR r.generation <> ${NOW_GENERATION})
  )
  OR m.flags <> ${flagsOf('b.batch_id')}
  OR (m.flags > 0 AND ${SAID_CONTRADICTED} <> ${contradictedOf('b.batch_id')})
ORDER BY b.seq`;

interface UnreportedRow {
  readonly batch_id: string;
  readonly workflow_id: string;
  readonly run_id: string;
}

/**
 * application: closed batches of which no report was written since they ended, and the run that closed each. A mark from before the end is of an earlier
 * run, or of the time when the file was refused: it says nothing of what is open now.
 */
const UNREPORTED_BATCHES = `/* unreported-batches */
SELECT b.batch_id, b.workflow_id, b.run_id
FROM batch b
WHERE b.application = $1 AND b.state IN ('finished', 'cancelled', 'refused')
  AND NOT EXISTS (SELECT 1 FROM report_mark m WHERE m.batch_id = b.batch_id AND m.written_at >= coalesce(b.finished_at, 0))
ORDER BY b.seq`;

interface SinceReportRow {
  readonly revision: number;
  /** Null: there was no report. */
  readonly mark: number | null;
  readonly flags: number;
  readonly said_contradicted: number | null;
  readonly contradicted: number;
}

/** batchId. */
const FIND_REPORT_MARK = `/* find-report-mark */
SELECT coalesce((SELECT revision FROM report_mark WHERE batch_id = $1), 0) AS revision,
  (SELECT flags FROM report_mark WHERE batch_id = $1) AS mark, ${flagsOf('$1')} AS flags,
  (SELECT ${SAID_CONTRADICTED} FROM report_mark m WHERE m.batch_id = $1) AS said_contradicted, ${contradictedOf('$1')} AS contradicted`;

/** batchId; its row is locked, so that two writers note one after the other. */
const MARKED_REVISION = `/* marked-revision */
SELECT revision FROM report_mark WHERE batch_id = $1`;

interface ReportChangeRow {
  readonly was: string;
  readonly is: string;
  readonly invoices: number;
  readonly examples: readonly string[];
}

/** batchId, how many references of each kind. An invoice that failed again under a new key has changed too. */
const REPORT_CHANGES = `/* report-changes */
SELECT r.state AS was, ${NOW_SAYS} AS is, count(*) AS invoices,
  (array_agg(bi.invoice_ref ORDER BY bi.ordinal))[1:$2::integer] AS examples
FROM report_outcome r
JOIN batch_invoice bi ON bi.batch_id = r.batch_id AND bi.ordinal = r.ordinal
LEFT JOIN ${INVOICE_OF_LINE}
WHERE r.batch_id = $1 AND (r.state <> ${NOW_SAYS} OR r.generation <> ${NOW_GENERATION})
GROUP BY 1, 2
ORDER BY 1, 2`;

/** batchId. */
const FORGET_REPORTED = `/* forget-reported */
DELETE FROM report_outcome WHERE batch_id = $1`;

/** batchId, then arrays: ordinal, state, generation. */
const INSERT_REPORTED = `/* insert-reported */
INSERT INTO report_outcome (batch_id, ordinal, state, generation)
SELECT $1, u.ordinal, u.state, u.generation
FROM unnest($2::integer[], $3::text[], $4::integer[]) AS u(ordinal, state, generation)`;

/**
 * batchId, revision, writtenAt, flags, figures or null, mark. A mark below zero that is another one than the report was written by was set meanwhile
 * (`mark-reasons-changed`): it stays, because the report may have read the reason of before.
 */
const MARK_REPORT = `/* mark-report */
INSERT INTO report_mark (batch_id, revision, written_at, flags, figures) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (batch_id) DO UPDATE SET revision = excluded.revision, written_at = excluded.written_at,
  flags = CASE WHEN report_mark.flags < 0 AND report_mark.flags <> coalesce($6::integer, 0) THEN report_mark.flags ELSE excluded.flags END,
  figures = excluded.figures`;

/** What reports said of invoices that may still change. */
export function createReportMarks(database: Database): ReportMarkLedger {
  return {
    async outdatedReports(application) {
      return (await database.query<{ batch_id: string }>(OUTDATED_REPORTS, [application])).map((row) => row.batch_id);
    },

    async unreportedBatches(application) {
      const rows = await database.query<UnreportedRow>(UNREPORTED_BATCHES, [application]);
      return rows.map((row) => ({ batchId: row.batch_id, workflowId: row.workflow_id, runId: row.run_id }));
    },

    async sinceReport(batchId) {
      const [found] = await database.query<SinceReportRow>(FIND_REPORT_MARK, [batchId]);
      const rows = await database.query<ReportChangeRow>(REPORT_CHANGES, [batchId, EXAMPLES]);
      const { revision = 0, flags = 0, contradicted = 0, mark = null } = found ?? {};
      const saidContradicted = found?.said_contradicted ?? contradicted;
      return {
        revision,
        flags,
        mark,
        isFlagged: flags !== (found?.mark ?? 0) || contradicted !== saidContradicted,
        contradicted: saidContradicted,
        changes: rows.map((row) => ({
          from: row.was as Outcome,
          to: row.is as Outcome,
          invoices: row.invoices,
          examples: row.examples,
        })),
      };
    },

    async noteReported(batchId, { revision, writtenAt, flags, mark: markBefore = null, open, figures }) {
      return database.transaction(async (queries) => {
        const [batch] = await queries.query<BatchRow>(LOCK_BATCH, [batchId]);
        foundBatch(batchId, batch);
        const [mark] = await queries.query<{ readonly revision: number }>(MARKED_REVISION, [batchId]);
        if ((mark?.revision ?? 0) > revision) return false;
        await queries.query(FORGET_REPORTED, [batchId]);
        for (let from = 0; from < open.length; from += PORTION) {
          const portion = open.slice(from, from + PORTION);
          await queries.query(INSERT_REPORTED, [
            batchId,
            column(portion, (one) => one.ordinal),
            column(portion, (one) => one.state),
            column(portion, (one) => one.generation),
          ]);
        }
        const numbers = figures === undefined ? null : JSON.stringify(figures);
        await queries.query(MARK_REPORT, [batchId, revision, writtenAt, flags, numbers, markBefore]);
        return true;
      });
    },
  };
}
