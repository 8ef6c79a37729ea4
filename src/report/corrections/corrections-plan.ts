import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice } from '../../domain/ports/ledger/batch-record.ts';
import { reasonOf } from '../state-reason.ts';

/** What Lote says beside each record that it hands back. */
export interface Correction {
  readonly state: Outcome;
  readonly reason: string;
  /** False for a bad row that could not be taken for an invoice's. */
  readonly ofInvoice: boolean;
}

/** What is wrong in a row, for a workbook that marks it. */
export interface Mark {
  /** As findings name it; null: the whole row, or the invoice that begins with it. */
  readonly column: string | null;
  /** Of the finding; null: the message is what the service or the ledger says. */
  readonly code: string | null;
  readonly message: string;
}

/** Which rows of the original file the corrections file gets, with state and reason of each. */
export interface CorrectionsPlan {
  readonly byRow: ReadonlyMap<number, Correction>;
  /** Rows that belong to an invoice: each of them must be found in the file again. */
  readonly invoiceRows: number;
  /** By row; null: more than a person can follow in a workbook, and more than should wait in memory. */
  readonly marks: ReadonlyMap<number, readonly Mark[]> | null;
}

/** Of rows, and of marks in them: Excel takes longer to open more notes than somebody takes to give up. */
export const MOST_IN_A_WORKBOOK = 20_000;

const CORRECTABLE = new Set<Outcome>(['invalid', 'rejected', 'failed', 'conflict']);

/**
 * True for an invoice that a better file can help. Never one that may be alive at the service: `unknown`, `unsettled` and
 * `accepted` are settled by asking the service, and a corrected copy of them could be issued twice.
 */
export function isCorrectable({ state, reason }: Pick<BatchInvoice, 'state' | 'reason'>): boolean {
  return CORRECTABLE.has(state) || (state === 'held' && reason?.code === 'merchant-details-missing');
}

/**
 * True for findings of an earlier version of Lote, which left out errors of rows that are in no invoice: nobody knows any more which rows these were, and
 * corrections without them would be invoices without lines.
 */
export function lacksLostRows(fileFindings: readonly Finding[]): boolean {
  const codes = new Set(fileFindings.map(({ code }) => code));
  return codes.has('rows-lost') && codes.has('findings-omitted');
}

/** Rows to hand back: every row of each invoice that needs correction, and bad rows that could not be taken for one. */
export async function planCorrections(
  invoices: AsyncIterable<readonly BatchInvoice[]>,
  fileFindings: readonly Finding[],
): Promise<CorrectionsPlan> {
  const plan = new Map<number, Correction>();
  const marks = new Marks();
  let invoiceRows = 0;
  for (const finding of fileFindings) {
    const { row, severity, code, message } = finding;
    if (row === null || severity !== 'error') continue;
    const before = plan.get(row);
    const reason = before === undefined ? `${code}: ${message}` : `${before.reason}; ${code}: ${message}`;
    plan.set(row, { state: 'invalid', reason, ofInvoice: false });
    marks.add(row, finding);
  }
  for await (const portion of invoices) {
    for (const invoice of portion.filter(isCorrectable)) {
      // One object for all rows of the invoice: a file in which every row is wrong must still fit in memory.
      const correction = { state: invoice.state, reason: reasonText(invoice), ofInvoice: true };
      for (const row of invoice.rows) plan.set(row, correction);
      for (const { row, mark } of marksOf(invoice, correction.reason)) marks.add(row, mark);
      invoiceRows += invoice.rows.length;
    }
  }
  return { byRow: plan, invoiceRows, marks: plan.size > MOST_IN_A_WORKBOOK ? null : marks.all() };
}

/** Marks by row, up to as many as a workbook gets. */
class Marks {
  readonly #byRow = new Map<number, Mark[]>();
  #count = 0;

  add(row: number, { column, code, message }: Mark): void {
    this.#count += 1;
    if (this.#count > MOST_IN_A_WORKBOOK) return this.#byRow.clear();
    const earlier = this.#byRow.get(row);
    if (earlier === undefined) this.#byRow.set(row, [{ column, code, message }]);
    else earlier.push({ column, code, message });
  }

  all(): ReadonlyMap<number, readonly Mark[]> | null {
    return this.#count > MOST_IN_A_WORKBOOK ? null : this.#byRow;
  }
}

/** Where the findings of an invalid invoice are; what the service or the ledger says is of the invoice as a whole. */
function marksOf(
  { state, rows, findings }: BatchInvoice,
  reason: string,
): readonly { readonly row: number; readonly mark: Mark }[] {
  const [first] = rows;
  if (first === undefined) return [];
  const errors = state === 'invalid' ? findings.filter(({ severity }) => severity === 'error') : [];
  if (errors.length === 0) return [{ row: first, mark: { column: null, code: null, message: reason } }];
  const own = new Set(rows);
  return errors.map((finding) => ({
    row: finding.row !== null && own.has(finding.row) ? finding.row : first,
    mark: finding,
  }));
}

/**
 * @throws LoteError `file-changed` when rows that must be handed back are not in the file any more: half an invoice in
 * the corrections would be issued as a whole one.
 */
export function checkAllFound(plan: CorrectionsPlan, found: number): void {
  if (found === plan.invoiceRows) return;
  throw new LoteError(
    'file-changed',
    `Writing the corrections: each of the ${plan.invoiceRows} rows to hand back must be in the original file, found ${found}. The file was changed since it was read.`,
  );
}

function reasonText(invoice: BatchInvoice): string {
  const errors = invoice.findings.filter(({ severity }) => severity === 'error');
  if (invoice.state === 'invalid' && errors.length > 0)
    return errors.map(({ code, message }) => `${code}: ${message}`).join('; ');
  const reason = reasonOf(invoice);
  return reason === null ? '' : `${reason.code}: ${reason.message}`;
}
