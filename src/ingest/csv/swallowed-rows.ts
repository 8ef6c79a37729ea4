import { normalNif } from '../invoice/identity.ts';
import { Refusal } from '../refusal.ts';
import type { CsvRecord } from './csv-reader.ts';
import { hasWrongWidth, type RowWidth } from './row-width.ts';
import { LINE_BREAK, RowsInCells, type KnownRows, type RowPlaces } from './rows-in-cells.ts';

/** A line of a text may well have two commas, but not the five or more of a whole row. */
const TELLING = 5;

/**
 * Finds rows that stand within a cell. Two stray quotes, one before a text and one behind a text further down, make one cell of everything between them: rows
 * would be gone without a word, and, where both stand in one column, the first would have the amount of the last. What lies between may be blank, a totals row or
 * cut off. A text that somebody wrote has not the very number of delimiters that whole rows have, and not what rows have in their places.
 */
export class SwallowedRows {
  readonly #delimiter: string;
  readonly #width: RowWidth;
  readonly #places: RowPlaces;
  readonly #rows: RowsInCells;
  /** Delimiters of a whole row: from those between its columns to the most that the header or a row of the file ends with. */
  readonly #least: number;
  #most: number;
  /** The record that holds a row if rows of the file end with enough delimiters; one below may show it. */
  #doubtful: { readonly row: number; readonly most: number } | null = null;
  /** The last record with as many cells as the header. */
  #whole: readonly string[] = [];

  /** `header`: its cells, with the trailing ones. */
  constructor(
    header: readonly string[],
    given: { readonly delimiter: string; readonly width: RowWidth; readonly places: RowPlaces },
  ) {
    this.#delimiter = given.delimiter;
    this.#width = given.width;
    this.#places = given.places;
    this.#rows = new RowsInCells({ ...given, columns: given.width.columns });
    this.#least = given.width.columns - 1;
    this.#most = header.length - 1;
  }

  /** A record above the header: a title may hold an address and a tax number, but no whole row. @throws Refusal `quote-misplaced` */
  takeTitle(record: CsvRecord): void {
    this.#requireNone(record, { nifs: [], refs: [] });
  }

  /** @throws Refusal `quote-misplaced` */
  takeHeader(record: CsvRecord): void {
    this.#requireNone(record, { nifs: [], refs: null });
  }

  /** A record below the header. @throws Refusal `quote-misplaced` */
  take(record: CsvRecord): void {
    const { row, cells } = record;
    if (cells.some(isBroken)) this.#requireNone(record, this.#known(cells));
    const most = this.#mostNeeded(cells);
    if (most <= this.#most) throw quoteMisplaced(row);
    if (most < (this.#doubtful?.most ?? Infinity)) this.#doubtful = { row, most };
    if (hasWrongWidth(cells, this.#width)) return;
    this.#whole = cells;
    if (cells.length - 1 > this.#most) this.#most = cells.length - 1;
  }

  /** @throws Refusal `quote-misplaced` */
  end(): void {
    if (this.#doubtful !== null && this.#doubtful.most <= this.#most) throw quoteMisplaced(this.#doubtful.row);
  }

  #requireNone({ row, cells }: CsvRecord, known: KnownRows): void {
    if (cells.some(isBroken) && this.#rows.hold(cells, known)) throw quoteMisplaced(row);
  }

  /** Cells of the record itself may be shifted, those of the one before are not. */
  #known(cells: readonly string[]): KnownRows {
    const { nif, refs } = this.#places;
    const rows = [cells, this.#whole];
    return {
      nifs: rows.flatMap((row) => normalNif(row[nif] ?? '') ?? []),
      refs: rows.map((row) => refs.map((at) => row[at] ?? '').join('')),
    };
  }

  /** How many delimiters a whole row must be able to have, so that a cell holds a row; Infinity: none does. */
  #mostNeeded(cells: readonly string[]): number {
    let needed = Infinity;
    for (let at = 0; at < cells.length; at += 1) {
      const cell = cells[at] ?? '';
      if (!isBroken(cell)) continue;
      const delimiters = cell.split(LINE_BREAK).map((line) => line.split(this.#delimiter).length - 1);
      if (isCut(delimiters, { at, ofRow: cells.length - 1 })) return 0;
      for (const count of delimiters.slice(1, -1))
        if (count >= TELLING && count >= this.#least) needed = Math.min(needed, count);
    }
    return needed;
  }
}

function isBroken(cell: string): boolean {
  return cell.includes('\n') || cell.includes('\r');
}

/** Whether a cell ends one row and begins another one: with the cells beside it, its first and its last line are as long as its record. */
function isCut(delimiters: readonly number[], { at, ofRow }: { readonly at: number; readonly ofRow: number }): boolean {
  return ofRow > 0 && delimiters[0] === ofRow - at && delimiters.at(-1) === at;
}

function quoteMisplaced(row: number): Refusal {
  return new Refusal(
    'quote-misplaced',
    `Row ${row}: a cell in quotes must be one text, but this one holds line breaks and what rows have: as many delimiters, or a tax number or amounts in their places. A quote opens in this row and closes in a later one; write it twice where it is part of the text, and put the whole cell in quotes`,
    { row },
  );
}
