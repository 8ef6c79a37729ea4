import { Refusal } from '../findings.ts';
import type { CsvRecord } from './csv-reader.ts';

const LINE_BREAK = /\r\n|\n|\r/u;
/** A line of a text may well have two delimiters, but not the five or more of a whole row. */
const TELLING = 5;
/** Programs write no space behind a delimiter, people do. */
const MOST_IN_A_TEXT = 2;
/** A tax number, which a row has, and a text seldom. */
const LONG_NUMBER = /^\d{8,}$/u;
const DECIMALS = /^\d{1,3}(?!\d)/u;

/**
 * Refuses a cell of several lines that holds rows. Two stray quotes, one before a text and one behind a text further
 * down, make one cell of everything between them, and its rows would be lost without a word.
 * @throws Refusal `quote-misplaced`
 */
export function requireNoSwallowedRows({ row, cells }: CsvRecord, delimiter: string, columns: number): void {
  for (const cell of cells)
    if ((cell.includes('\n') || cell.includes('\r')) && holdsRows(cell, delimiter, columns)) throw quoteMisplaced(row);
}

function holdsRows(cell: string, delimiter: string, columns: number): boolean {
  const lines = cell.split(LINE_BREAK).map((line) => line.split(delimiter));
  const isWhole = ({ length }: readonly string[]): boolean => length === columns && length > TELLING;
  if (lines.slice(1, -1).some(isWhole)) return true;
  const tight = lines.flatMap((parts) => parts.filter((part, at) => at > 0 && isTight(parts[at - 1] ?? '', part)));
  const hasNumber = lines.some((parts) => parts.length > 1 && parts.some((part) => LONG_NUMBER.test(part)));
  return tight.length > MOST_IN_A_TEXT || (tight.length === MOST_IN_A_TEXT && hasNumber);

  /** Whether a program wrote this delimiter: no space follows it, and it is no decimal comma. */
  function isTight(before: string, behind: string): boolean {
    return !/^\s/u.test(behind) && !(delimiter === ',' && /\d$/u.test(before) && DECIMALS.test(behind));
  }
}

function quoteMisplaced(row: number): Refusal {
  const message = `Row ${row}: a cell in quotes must be one text, but this one holds line breaks and what rows have: delimiters without spaces behind them, as many as a row, or a tax number among them. A quote opens in this row and closes in a later one; write it twice where it is part of the text, and put the whole cell in quotes`;
  return new Refusal('quote-misplaced', message, { row });
}
