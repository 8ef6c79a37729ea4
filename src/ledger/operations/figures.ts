import type { OutcomeCount } from '../../domain/ports/ledger/batch-record.ts';
import type { BatchFigures, FiguresLedger } from '../../domain/ports/figures.ts';
import { sumDecimals } from '../../domain/money.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import type { Database } from '../database/database.ts';

interface FiguresRow {
  readonly application: string;
  readonly started_at: number;
  readonly figures: string | null;
}

/** since, limit. One row a file, and no invoice is read. */
const BATCH_FIGURES = `/* batch-figures */
SELECT b.application, b.started_at, m.figures
FROM batch b LEFT JOIN report_mark m ON m.batch_id = b.batch_id
WHERE b.started_at >= $1
ORDER BY b.seq DESC LIMIT $2`;

/** batchId. */
const REPORT_FIGURES = `/* report-figures */
SELECT figures FROM report_mark WHERE batch_id = $1`;

/** What has changed since a report: invoices of one outcome and currency that have another outcome now. */
interface OutcomeChange extends Omit<OutcomeCount, 'outcome'> {
  readonly was: Outcome;
  readonly is: Outcome;
}

interface ReportedRow {
  readonly figures: string | null;
  readonly invoices: number;
  readonly changes: string | null;
}

/**
 * batchId. One statement, so that report and changes belong together. A batch that was closed again since the report (its file was read anew, or
 * invoices of it were retried) has a later end.
 */
const REPORTED_OUTCOMES = `/* reported-outcomes */
SELECT m.figures, b.invoices, (
  SELECT json_agg(c)::text FROM (
    SELECT r.state AS was, coalesce(bi.outcome, i.state) AS is, bi.currency, count(*) AS invoices,
      trim_scale(coalesce(sum(bi.net::numeric), 0))::text AS net, count(*) FILTER (WHERE bi.net IS NULL) AS "withoutAmount"
    FROM report_outcome r
    JOIN batch_invoice bi ON bi.batch_id = r.batch_id AND bi.ordinal = r.ordinal
    LEFT JOIN ${INVOICE_OF_LINE}
    WHERE r.batch_id = b.batch_id AND r.state <> coalesce(bi.outcome, i.state)
    GROUP BY 1, 2, 3
  ) c
) AS changes
FROM batch b JOIN report_mark m ON m.batch_id = b.batch_id
WHERE b.batch_id = $1 AND b.state IN ('finished', 'cancelled') AND m.written_at >= b.finished_at`;

/** What the reports of the last nights said in numbers. */
export function createFigures(database: Database): FiguresLedger {
  return {
    async batchFigures(since, limit) {
      const rows = await database.query<FiguresRow>(BATCH_FIGURES, [since, limit]);
      return rows.map((row) => ({
        application: row.application,
        startedAt: row.started_at,
        figures: row.figures === null ? null : figuresOf(row.figures),
      }));
    },

    async reportFigures(batchId) {
      const [row] = await database.query<Pick<FiguresRow, 'figures'>>(REPORT_FIGURES, [batchId]);
      const figures = row?.figures ?? null;
      return figures === null ? null : figuresOf(figures);
    },

    async reportedOutcomes(batchId) {
      const [row] = await database.query<ReportedRow>(REPORTED_OUTCOMES, [batchId]);
      if (row === undefined || row.figures === null) return null;
      const { outcomes = [] } = figuresOf(row.figures);
      const changes = row.changes === null ? [] : (JSON.parse(row.changes) as readonly OutcomeChange[]);
      const now = afterChanges(outcomes, changes);
      // Whatever a report says: a batch has as many outcomes as invoices, and none is fewer than none.
      const isWhole = now.reduce((sum, { invoices }) => sum + invoices, 0) === row.invoices;
      return isWhole && now.every(({ invoices }) => invoices > 0) ? now : null;
    },
  };
}

function figuresOf(text: string): BatchFigures {
  return JSON.parse(text) as BatchFigures;
}

/** In the order of `countOutcomes`. */
function afterChanges(outcomes: readonly OutcomeCount[], changes: readonly OutcomeChange[]): readonly OutcomeCount[] {
  const parts = [
    ...outcomes,
    ...changes.flatMap(({ was, is, ...part }) => [
      { ...negated(part), outcome: was },
      { ...part, outcome: is },
    ]),
  ];
  const sums = new Map<string, OutcomeCount>();
  for (const part of parts) {
    const key = JSON.stringify([part.outcome, part.currency]);
    const known = sums.get(key);
    sums.set(key, known === undefined ? part : added(known, part));
  }
  return [...sums.values()]
    .filter(({ invoices }) => invoices !== 0)
    .sort((a, b) => compared(a.outcome, b.outcome) || compared(a.currency ?? '\uFFFF', b.currency ?? '\uFFFF'));
}

function added(one: OutcomeCount, other: OutcomeCount): OutcomeCount {
  return {
    ...one,
    invoices: one.invoices + other.invoices,
    net: sumDecimals([one.net, other.net]),
    withoutAmount: one.withoutAmount + other.withoutAmount,
  };
}

function negated<Part extends Omit<OutcomeCount, 'outcome'>>(part: Part): Part {
  const { invoices, net, withoutAmount } = part;
  const less = net === '0' ? net : net.startsWith('-') ? net.slice(1) : `-${net}`;
  return { ...part, invoices: -invoices, net: less, withoutAmount: -withoutAmount };
}

function compared(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
