import type { Finding } from '../../domain/invoice.ts';
import type { Column, RawRow } from '../../domain/row.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { Conversion } from '../ingest-result.ts';
import { escapeInvisible } from '../../domain/text/escape-invisible.ts';
import { shorten, rowError } from '../findings.ts';

const LONGEST_SHOWN = 60;
/** An invoice of 100,000 wrong lines is one wrong invoice; its findings must still fit in the ledger and on a page. */
const MOST_OF_ONE_INVOICE = 100;

/** Returns the trimmed cell of a column. An absent cell counts as empty. */
export function cellOf(row: RawRow, column: Column): string {
  return row.cells[COLUMNS.indexOf(column)]?.trim() ?? '';
}

/** Builds the findings about the cells of one invoice, with the file's own column names. The list is bounded. */
export class CellFindings {
  readonly #kept: Finding[] = [];
  readonly #labels: Conversion['labels'];
  #more = 0;
  hasError = false;

  constructor(labels: Conversion['labels']) {
    this.#labels = labels;
  }

  error(row: number, column: Column, code: string, message: string): void {
    this.#add(rowError(row, this.#labels[column], code, message));
  }

  warning(row: number, column: Column, code: string, message: string): void {
    this.#add({ ...rowError(row, this.#labels[column], code, message), severity: 'warning' });
  }

  addAll(findings: readonly Finding[]): void {
    for (const finding of findings) this.#add(finding);
  }

  list(): readonly Finding[] {
    if (this.#more === 0) return this.#kept;
    const message = `${this.#more} more findings of this invoice are not listed. Correct those above and check the file again`;
    return [...this.#kept, { row: null, column: null, code: 'findings-omitted', message, severity: 'warning' }];
  }

  #add(finding: Finding): void {
    // A full list drops its last finding for the first error, which keeps the invoice from being sent.
    if (finding.severity === 'error' && !this.hasError) {
      this.hasError = true;
      if (this.#kept.length >= MOST_OF_ONE_INVOICE) {
        this.#kept.pop();
        this.#more += 1;
      }
    }
    if (this.#kept.length < MOST_OF_ONE_INVOICE) this.#kept.push(finding);
    else this.#more += 1;
  }
}

/** Returns a cell for a finding, with invisible characters as codes, because some reverse the text behind them. */
export function shownCell(text: string): string {
  const shown = JSON.stringify(text.length > LONGEST_SHOWN ? `${shorten(text, LONGEST_SHOWN)}…` : text);
  return escapeInvisible(shown);
}
