import { Refusal } from '../refusal.ts';
import type { CsvRecord } from './csv-reader.ts';
import { hasWrongWidth, type RowWidth } from './row-width.ts';

/** A line of a text may well have two commas, but not the five or more of a whole row. */
const TELLING = 5;
const LINE_BREAK = /\r\n|\n|\r/u;

/**
 * Finds rows that stand within a cell. Two stray quotes, one before a text and one behind a text further down, make one cell of everything between them: rows
 * would be gone without a word, and, where both stand in one column, the first would have the amount of the last. What lies between may be blank, a totals row or
 * cut off. A text that somebody wrote has not the very number of delimiters that whole rows have.
 */
export class SwallowedRows {
  readonly #delimiter: string;
  readonly #width: RowWidth;
  /** Delimiters of a whole row: from those between its columns to the most that the header or a row of the file ends with. */
  readonly #least: number;
  #most: number;
  /** The record that holds a row if rows of the file end with enough delimiters; one below may show it. */
  #doubtful: { readonly row: number; readonly most: number } | null = null;

  /** `header`: its cells, with the trailing ones. */
  constructor(header: readonly string[], given: { readonly delimiter: string; readonly width: RowWidth }) {
    this.#delimiter = given.delimiter;
    this.#width = given.width;
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

  /** How many delimiters a whole row must be able to have, so that a cell holds a row; Infinity: none does. */
  #mostNeeded(cells: readonly string[]): number {
    let needed = Infinity;
    for (let at = 0; at < cells.length; at += 1) {
      const cell = cells[at] ?? '';
      if (!cell.includes('\n') && !cell.includes('\r')) continue;
      const delimiters = cell.split(LINE_BREAK).map((line) => line.split(this.#delimiter).length - 1);
      if (isCut(delimiters, { at, ofRow: cells.length - 1 })) return 0;
      for (const count of delimiters.slice(1, -1))
        if (count >= TELLING && count >= this.#least) needed = Math.min(needed, count);
    }
    return needed;
  }
}

/** Whether a cell ends one row and begins another one: with the cells beside it, its first and its last line are as long as its record. */
function isCut(delimiters: readonly number[], { at, ofRow }: { readonly at: number; readonly ofRow: number }): boolean {
  return ofRow > 0 && delimiters[0] === ofRow - at && delimiters.at(-1) === at;
}

function quoteMisplaced(row: number): Refusal {
  return new Refusal(
    'quote-misplaced',
    `Row ${row}: a cell in quotes must be one text, but this one holds line breaks and as many delimiters as whole rows. A quote opens in this row and closes in a later one; write it twice where it is part of the text, and put the whole cell in quotes`,
    { row },
  );
}
