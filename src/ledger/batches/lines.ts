import { type Outcome, OUTCOMES } from '../../domain/invoice-state.ts';
import {
  type BatchInvoice,
  type Contradicted,
  MOST_CONTRADICTED,
  type OutcomeCount,
} from '../../domain/records/batch-record.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { arrayLiteral, reasonJson } from '../sql.ts';

/** Selects a part of the invoices of a batch. */
export interface InvoicesWith {
  readonly outcomes: ReadonlySet<Outcome>;
  /** Begin after this ordinal; default 0. */
  readonly after?: number;
  /** The number of matching invoices to skip; default 0. */
  readonly skip?: number;
  readonly limit: number;
}

/** Columns of the view `batch_line` that make a `BatchInvoice`. */
export const LINE_COLUMNS = `l.ordinal, l.page, l.ref, l.merchant_nif, l.rows, l.currency, l.net, l.state, l.service_id, l.idempotency_key, l.generation,
  l.attempts, ${reasonJson('l')} AS reason, coalesce(l.findings, '[]')::json AS findings, l.flags, l.contradictions, l.sent_at, l.settled_at, l.issued_elsewhere`;

const BATCH_INVOICES = `/* batch-invoices */
SELECT ${LINE_COLUMNS} FROM batch_line l
WHERE l.batch_id = $1 AND l.ordinal > $2
ORDER BY l.ordinal
LIMIT $3`;

/** Parameters: batchId, outcomes, ordinal to begin after, skip, limit. Skipped lines are not built, which takes a third of the time on a late page. */
const INVOICES_WITH = `/* invoices-with */
WITH chosen AS (
  SELECT l.ordinal FROM batch_line l
  WHERE l.batch_id = $1 AND l.state = ANY($2::text[]) AND l.ordinal > $3
  ORDER BY l.ordinal
  OFFSET $4 LIMIT $5
)
SELECT ${LINE_COLUMNS} FROM chosen JOIN batch_line l ON l.batch_id = $1 AND l.ordinal = chosen.ordinal
ORDER BY l.ordinal`;

/** Totals of several lines. Sums are exact: numeric has no rounding. */
const LINE_SUMS = `count(*) AS invoices, trim_scale(coalesce(sum(l.net::numeric), 0))::text AS net,
  count(*) FILTER (WHERE l.net IS NULL) AS without_amount`;

/** Parameter: batchId. Computes the batch's balance. */
const COUNT_OUTCOMES = `/* count-outcomes */
SELECT l.state AS outcome, l.currency, ${LINE_SUMS} FROM batch_line l
WHERE l.batch_id = $1
GROUP BY 1, 2
ORDER BY 1, 2`;

const ISSUED_BEFORE = `/* issued-before */
SELECT count(*) AS invoices FROM batch_line l
WHERE l.batch_id = $1 AND (l.state = 'already-issued' OR (l.state = 'issued' AND (l.settled_at < $2 OR l.issued_elsewhere)))`;

/** SQL condition: line `l` is in doubt. It uses the index of the few invoices with a flag. */
export const IS_CONTRADICTED = `(l.invoice_id = ANY(ARRAY(SELECT invoice_id FROM invoice WHERE flags <> '{}')) AND cardinality(l.contradictions) > 0)`;

const CONTRADICTED_INVOICES = `/* contradicted-invoices */
SELECT l.batch_id, count(*) AS invoices, (array_agg(l.ref ORDER BY l.ordinal))[1:$2::integer] AS refs FROM batch_line l
WHERE l.batch_id = ANY ($1::text[]) AND ${IS_CONTRADICTED}
GROUP BY l.batch_id`;

/** Parameters: batchId, rows of each group, groups. Groups settled lines that are not issued. The reason of an invalid line is its first finding. */
const ROWS_OF_REFS = `/* rows-of-refs */
SELECT invoice_ref AS ref, file_rows AS rows FROM batch_invoice
WHERE batch_id = $1 AND invoice_ref = ANY($2::text[])
ORDER BY ordinal`;

/** Number of report lines read at once: about a megabyte. */
const PORTION = 1_000;

/** Reads the invoices of batches for reports and pages. */
export function createLines(database: Database) {
  return {
    countOutcomes: (batchId: string): Promise<readonly OutcomeCount[]> =>
      database.query<OutcomeCount>(COUNT_OUTCOMES, [batchId]),

    /** Returns the invoices that were sent and are in doubt. A batch without such invoices has no entry. */
    async contradictedInvoices(batchIds: readonly string[]): Promise<ReadonlyMap<string, Contradicted>> {
      const params = [arrayLiteral(batchIds), MOST_CONTRADICTED];
      const rows = await database.query<Contradicted & { batchId: string }>(CONTRADICTED_INVOICES, params);
      return new Map(rows.map(({ batchId, ...contradicted }) => [batchId, contradicted]));
    },

    /** Returns the number of the batch's invoices whose document was known before `at` (epoch milliseconds) or belongs to another batch. */
    async issuedBefore(batchId: string, at: number): Promise<number> {
      return onlyRow(await database.query<{ invoices: number }>(ISSUED_BEFORE, [batchId, at])).invoices;
    },

    batchInvoices: (batchId: string): AsyncIterable<readonly BatchInvoice[]> => readBatchInvoices(database, batchId),

    /** Returns invoices with the given outcomes in ordinal order. The database selects them. */
    async invoicesWith(
      batchId: string,
      { outcomes, after = 0, skip = 0, limit }: InvoicesWith,
    ): Promise<readonly BatchInvoice[]> {
      // Ordinals have no gaps, so a request for all outcomes can skip lines without reading them.
      const isAll = outcomes.size === OUTCOMES.length;
      return isAll
        ? await database.query<BatchInvoice>(BATCH_INVOICES, [batchId, after + skip, limit])
        : await database.query<BatchInvoice>(INVOICES_WITH, [batchId, arrayLiteral([...outcomes]), after, skip, limit]);
    },

    /** Returns the file rows of these references in the batch, without the references that the batch does not have. */
    rowsOfRefs: (batchId: string, refs: readonly string[]) =>
      database.query<{ readonly ref: string; readonly rows: readonly number[] }>(ROWS_OF_REFS, [
        batchId,
        arrayLiteral(refs),
      ]),
  };
}

async function* readBatchInvoices(database: Database, batchId: string): AsyncGenerator<readonly BatchInvoice[]> {
  const readPortion = (after: number) => database.query<BatchInvoice>(BATCH_INVOICES, [batchId, after, PORTION]);
  let reading = readPortion(0);
  for (;;) {
    const rows = await reading;
    const last = rows.at(-1);
    if (last === undefined) return;
    const isLast = rows.length < PORTION;
    // The database reads the next portion while the caller works on this one. If that read fails, the `await` above throws the error.
    if (!isLast) reading = readPortion(last.ordinal);
    reading.catch(() => undefined);
    yield rows;
    if (isLast) return;
  }
}
