import type { Finding } from '../domain/invoice.ts';
import { Refusal } from './refusal.ts';

/** A file of a million odd rows must not become a million warnings in memory; the rest is counted. */
const MOST_WARNINGS = 1000;
/** More rows than this without an invoice, and it is the file that was misread. */
const MOST_ROWS_WITH_ERRORS = 1000;

/** Findings of one file, bounded. */
export class FindingList {
  readonly #kept: Finding[] = [];
  readonly #rowsWithErrors = new Set<number>();
  #warnings = 0;

  /**
   * Corrections know rows that are in no invoice from their errors alone: each of these is kept, or the file is refused.
   * A row that was left out would be missing in the corrections, and the invoice that it belongs to would go without it.
   * @throws Refusal `too-many-damaged-rows`
   */
  add(finding: Finding): void {
    if (finding.severity === 'error') this.#noteRow(finding);
    else {
      this.#warnings += 1;
      if (this.#warnings > MOST_WARNINGS) return;
    }
    this.#kept.push(finding);
  }

  all(): readonly Finding[] {
    const more = this.#warnings - MOST_WARNINGS;
    if (more <= 0) return this.#kept;
    const message = `${more} more warnings of this file are not listed. Correct those above and check the file again`;
    return [...this.#kept, { row: null, column: null, code: 'warnings-omitted', message, severity: 'warning' }];
  }

  #noteRow({ row, message }: Finding): void {
    if (row === null) return;
    this.#rowsWithErrors.add(row);
    if (this.#rowsWithErrors.size <= MOST_ROWS_WITH_ERRORS) return;
    throw new Refusal(
      'too-many-damaged-rows',
      `More than ${MOST_ROWS_WITH_ERRORS} rows have no usable reference or tax number. The last one found: ${message}. Write both into each row of an invoice, or name their columns in a profile`,
      { row },
    );
  }
}
