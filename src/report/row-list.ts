import { fill, pluralForm } from '../texts/fill.ts';
import type { ReportFormat } from './texts/report-format.ts';

/** Rows named before "and n more": an invoice of a thousand lines must not fill the page. */
const MOST_ROWS = 8;

/** `rows 2, 3 and 9 more`, as a reader looks them up in the file. */
export function rowList(format: ReportFormat, rows: readonly number[]): string {
  const { none, named } = format.texts.rowList;
  if (rows.length === 0) return none;
  return fill(pluralForm(named, rows.length, format.language), { rows: rowNumbers(format, rows) });
}

/** The same without the word: `2, 3 and 9 more`. */
export function rowNumbers({ texts, count }: ReportFormat, rows: readonly number[]): string {
  if (rows.length === 0) return texts.rowList.none;
  const named = rows.slice(0, MOST_ROWS).join(', ');
  const left = rows.length - MOST_ROWS;
  return left > 0 ? fill(texts.rowList.more, { rows: named, n: count(left) }) : named;
}
