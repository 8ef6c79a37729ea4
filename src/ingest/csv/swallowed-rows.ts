import { hasValidChecksum, normalNif } from '../invoice/identity.ts';
import { Refusal } from '../refusal.ts';
import type { CsvRecord } from './csv-reader.ts';
import { hasWrongWidth, isEmpty, type RowWidth } from './row-width.ts';

/** A line of a text may well have two commas, but not the five or more of a whole row. */
const TELLING = 5;
/** A number in a text that is no longer is a number of pieces, a year or a price. */
const LEAST_DIGITS = 8;
/** A tax number of Portugal. */
const NINE = 9;
const LINE_BREAK = /\r\n|\n|\r/u;

/** Positions of the columns that say whose a row is; -1: the file has none. */
interface IdentityPlaces {
  readonly nif: number;
  readonly ref: number;
}

/**
 * Finds rows that stand within a cell. Two stray quotes, one before a text and one behind a text further down, make one cell of everything between them: rows
 * would be gone without a word, and, where both stand in one column, the first would have the amount of the last. What lies between may be blank, a totals row or
 * cut off. A text that somebody wrote has not the very number of delimiters that whole rows have, and no tax number where rows have theirs.
 */
export class SwallowedRows {
  readonly #delimiter: string;
  readonly #width: RowWidth;
  readonly #identity: IdentityPlaces;
  /** Delimiters of a whole row: from those between its columns to the most that the header or a row of the file ends with. */
  readonly #least: number;
  #most: number;
  /** The record that holds a row if rows of the file end with enough delimiters; one below may show it. */
  #doubtful: { readonly row: number; readonly most: number } | null = null;

  /** `header`: its cells, with the trailing ones. */
  constructor(
    header: readonly string[],
    given: { readonly delimiter: string; readonly width: RowWidth; readonly identity: IdentityPlaces },
  ) {
    this.#delimiter = given.delimiter;
    this.#width = given.width;
    this.#identity = given.identity;
    this.#least = given.width.columns - 1;
    this.#most = header.length - 1;
  }

  /** @throws Refusal `quote-misplaced` */
  take({ row, cells }: CsvRecord): void {
    const most = this.#mostNeeded(cells);
    if (most <= this.#most) throw quoteMisplaced(row);
    if (most < (this.#doubtful?.most ?? Infinity)) this.#doubtful = { row, most };
    if (cells.length - 1 > this.#most && !hasWrongWidth(cells, this.#width)) this.#most = cells.length - 1;
  }

  /** @throws Refusal `quote-misplaced` */
  end(): void {
    if (this.#doubtful !== null && this.#doubtful.most <= this.#most) throw quoteMisplaced(this.#doubtful.row);
  }

  /** How many delimiters a whole row must be able to have, so that a cell of this record holds a row; Infinity: none does. */
  #mostNeeded(cells: readonly string[]): number {
    let needed = Infinity;
    let broken = 0;
    for (let at = 0; at < cells.length; at += 1) {
      const cell = cells[at] ?? '';
      if (!cell.includes('\n') && !cell.includes('\r')) continue;
      broken += 1;
      needed = Math.min(needed, this.#ofCell(cells, at));
    }
    // A row between two such cells ends in one and begins in the other.
    return broken < 2 ? needed : Math.min(needed, this.#ofLines(this.#delimitersOf(cells.join(this.#delimiter))));
  }

  #ofCell(cells: readonly string[], at: number): number {
    const ofRecord = cells.length - 1;
    const cell = cells[at] ?? '';
    if (this.#hasIdentity(cells, at)) return 0;
    const delimiters = this.#delimitersOf(cell);
    delimiters[0] = (delimiters[0] ?? 0) + at;
    const last = delimiters.length - 1;
    delimiters[last] = (delimiters[last] ?? 0) + ofRecord - at;
    // Rows may all lack the same cells.
    if (ofRecord > 0 && delimiters[0] === ofRecord && delimiters[last] === ofRecord) return 0;
    return this.#ofLines(delimiters);
  }

  #delimitersOf(text: string): number[] {
    return text.split(LINE_BREAK).map((line) => line.split(this.#delimiter).length - 1);
  }

  /** `delimiters`: of each line of a record. It holds rows if its first and its last line are whole ones, or one between. */
  #ofLines(delimiters: readonly number[]): number {
    const ends = [delimiters[0] ?? 0, delimiters.at(-1) ?? 0] as const;
    let needed = Math.min(...ends) >= this.#least ? Math.max(...ends) : Infinity;
    const telling = Math.max(TELLING, this.#least);
    for (const count of delimiters.slice(1, -1)) if (count >= telling) needed = Math.min(needed, count);
    return needed;
  }

  /** Whether a line of a cell has a reference and a tax number where rows have theirs; in a record whose cells are shifted, a tax number in any place. */
  #hasIdentity(cells: readonly string[], at: number): boolean {
    const { nif, ref } = this.#identity;
    if (nif < 0 || ref < 0) return false;
    const own = normalNif(cells[nif] ?? '');
    const isShifted = own === null || hasWrongWidth(cells, this.#width);
    return (cells[at] ?? '').split(LINE_BREAK).some((line, number) => {
      const parts = line.split(this.#delimiter);
      if (isShifted) return parts.length > 1 && parts.some((part) => mayBeTaxNumber(normalNif(part)));
      const before = number === 0 ? at : 0;
      const found = normalNif(parts[nif - before] ?? '');
      if (!mayBeTaxNumber(found) || isEmpty(parts[ref - before])) return false;
      // Any other number of nine digits may be that of a telephone.
      return found.length !== NINE || found === own || hasValidChecksum(found);
    });
  }
}

function mayBeTaxNumber(digits: string | null): digits is string {
  return digits !== null && digits.length >= LEAST_DIGITS;
}

function quoteMisplaced(row: number): Refusal {
  return new Refusal(
    'quote-misplaced',
    `Row ${row}: a cell in quotes must be one text, but this one holds line breaks and what rows have: as many delimiters, or a reference and a tax number in their places. A quote opens in this row and closes in a later one; write it twice where it is part of the text, and put the whole cell in quotes`,
    { row },
  );
}
