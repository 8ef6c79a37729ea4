import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { Language } from '../../texts/languages.ts';
import { problemText } from '../../texts/problems/problem-words.ts';
import { reasonOf } from '../report-model.ts';
import type { BatchInvoice } from '../../domain/records/batch-record.ts';
import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';

/** The columns that Lote adds to each record of the corrections file. */
export interface Correction {
  readonly state: Outcome;
  readonly reason: string;
  /** False for a bad row that could not be assigned to an invoice. */
  readonly ofInvoice: boolean;
}

/** The rows of the original file that go into the corrections file, with state and reason of each. */
export interface CorrectionsPlan {
  readonly byRow: ReadonlyMap<number, Correction>;
  readonly invoiceRows: number;
  /** Columns of wrong cells by row; a null entry marks the whole row. Null if there are more than a person can follow. */
  readonly marks: ReadonlyMap<number, readonly (string | null)[]> | null;
}

/** Limit of rows and of marks in a workbook, because no person corrects more by hand. */
export const MOST_IN_A_WORKBOOK = 20_000;

const CORRECTABLE = new Set<Outcome>(['invalid', 'rejected', 'failed', 'conflict']);

/** True if a corrected file helps. False if the invoice may be valid at the service: a copy could be issued twice. */
export function isCorrectable({ state, reason }: Pick<BatchInvoice, 'state' | 'reason'>): boolean {
  return CORRECTABLE.has(state) || (state === 'held' && reason?.code === 'merchant-details-missing');
}

/** Plans the rows to hand back: every row of each invoice that needs correction, and bad rows without an invoice. */
export async function planCorrections(
  invoices: AsyncIterable<readonly BatchInvoice[]>,
  fileFindings: readonly Finding[],
  language: Language = 'en',
): Promise<CorrectionsPlan> {
  const plan = new Map<number, Correction>();
  const marks = new Map<number, (string | null)[]>();
  let marked = 0;
  let invoiceRows = 0;
  const mark = (row: number, column: string | null): void => {
    marked += 1;
    const earlier = marks.get(row);
    if (marked > MOST_IN_A_WORKBOOK) marks.clear();
    else if (earlier === undefined) marks.set(row, [column]);
    else earlier.push(column);
  };
  for (const finding of fileFindings) {
    const { row, severity, column } = finding;
    if (row === null || severity !== 'error') continue;
    const before = plan.get(row);
    const said = foundText(finding, language);
    plan.set(row, {
      state: 'invalid',
      reason: before === undefined ? said : `${before.reason}; ${said}`,
      ofInvoice: false,
    });
    mark(row, column);
  }
  for await (const portion of invoices) {
    for (const invoice of portion.filter(isCorrectable)) {
      // All rows of the invoice share one object, so that a file with an error in every row still fits in memory.
      const correction = { state: invoice.state, reason: reasonText(invoice, language), ofInvoice: true };
      for (const row of invoice.rows) plan.set(row, correction);
      for (const [row, column] of marksOf(invoice)) mark(row, column);
      invoiceRows += invoice.rows.length;
    }
  }
  return { byRow: plan, invoiceRows, marks: Math.max(plan.size, marked) > MOST_IN_A_WORKBOOK ? null : marks };
}

function marksOf({ state, rows, findings }: BatchInvoice): readonly (readonly [row: number, column: string | null])[] {
  const [first] = rows;
  if (first === undefined) return [];
  const errors = state === 'invalid' ? findings.filter(({ severity }) => severity === 'error') : [];
  if (errors.length === 0) return [[first, null]];
  const own = new Set(rows);
  return errors.map(({ row, column }) => [row !== null && own.has(row) ? row : first, column]);
}

/** @throws LoteError `file-changed` if a planned row is gone: half an invoice would be issued as a whole one */
export function checkAllFound(plan: CorrectionsPlan, found: number): void {
  if (found === plan.invoiceRows) return;
  const message = `Writing the corrections: each of the ${plan.invoiceRows} rows to hand back must be in the original file, found ${found}. The file was changed since it was read.`;
  throw new LoteError('file-changed', message);
}

function reasonText(invoice: BatchInvoice, language: Language): string {
  const errors = invoice.findings.filter(({ severity }) => severity === 'error');
  if (invoice.state === 'invalid' && errors.length > 0)
    return errors.map((finding) => foundText(finding, language)).join('; ');
  const reason = reasonOf(invoice);
  return reason === null ? '' : `${reason.code}: ${reason.message}`;
}

/** Returns the problem in the reader's language, followed by Lote's English message with numbers and places. */
function foundText({ code, message }: Finding, language: Language): string {
  const translated = problemText(code, language);
  return translated === null ? `${code}: ${message}` : `${code}: ${translated} (${message})`;
}

/** Ingest recognises a corrections file of Lote by these two columns, and ignores them. */
export const LOTE_COLUMNS = ['lote_state', 'lote_reason'] as const;
const ALL_LOTE_COLUMNS = [...LOTE_COLUMNS, READ_AS, ORIGINAL];

/** Returns the positions of the header cells that are written. `own`: the file is a corrections file; all of Lote's columns but `except` are removed. */
export function keptColumns(
  header: readonly string[],
  except?: typeof ORIGINAL,
): { readonly kept: readonly number[]; readonly own: boolean; readonly width: number } {
  const own = LOTE_COLUMNS.every((name) => header.some((cell) => isColumn(name, cell)));
  const width = header.findLastIndex((cell) => cell.trim() !== '') + 1;
  const kept = header
    .slice(0, width)
    .flatMap((cell, index) =>
      own && ALL_LOTE_COLUMNS.some((name) => name !== except && isColumn(name, cell)) ? [] : [index],
    );
  return { kept, own, width };
}

/** Puts the text on one line: messages of the service may hold line ends, which make a record hard to edit. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\t]+/gu, ' ').trim();
}

function isColumn(name: string, header: string): boolean {
  return header.trim() === name;
}
