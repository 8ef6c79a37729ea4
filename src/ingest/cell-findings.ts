import type { Finding } from '../domain/invoice.ts';
import type { Column, RawRow } from '../domain/row.ts';
import { COLUMNS } from '../domain/row.ts';
import type { Conversion } from './ingest-result.ts';
import { shorten } from './shorten.ts';

const LONGEST_SHOWN = 60;

/** Trimmed cell of a column; an absent cell is an empty one. */
export function cellOf(row: RawRow, column: Column): string {
  return row.cells[COLUMNS.indexOf(column)]?.trim() ?? '';
}

/** Builds findings about cells, in the words of the file. */
export class CellFindings {
  readonly list: Finding[] = [];
  readonly #labels: Conversion['labels'];

  constructor(labels: Conversion['labels']) {
    this.#labels = labels;
  }

  get hasError(): boolean {
    return this.list.some((finding) => finding.severity === 'error');
  }

  error(row: number, column: Column, problem: { readonly code: string; readonly message: string }): void {
    this.#add(row, column, problem, 'error');
  }

  warning(row: number, column: Column, problem: { readonly code: string; readonly message: string }): void {
    this.#add(row, column, problem, 'warning');
  }

  label(column: Column): string {
    return this.#labels[column];
  }

  #add(
    row: number,
    column: Column,
    problem: { readonly code: string; readonly message: string },
    severity: Finding['severity'],
  ): void {
    const label = this.#labels[column];
    this.list.push({
      row,
      column: label,
      code: problem.code,
      message: `Row ${row}, ${label}: ${problem.message}`,
      severity,
    });
  }
}

/** A cell as a finding shows it. */
export function shownCell(text: string): string {
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${shorten(text, LONGEST_SHOWN)}…` : text);
}
