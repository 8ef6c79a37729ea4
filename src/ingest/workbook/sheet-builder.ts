import { MOST_COLUMNS, MOST_MERGED, MOST_RATIO, MOST_ROWS, damaged, tooLarge } from './limits.ts';
import type { MergedRange, SheetCell, SheetRow, SheetRows } from './workbook.ts';

/** Most characters of a row, plus one delimiter per cell: as long as the longest record of a CSV file. */
const LONGEST_ROW = 1024 * 1024;
/** Any small part may hold this much: cells of several kilobytes can name one text of a megabyte. */
const CHARACTERS_OF_ANY_SHEET = 64 * 1024 ** 2;
/** The limit for a sheet of any size: a million rows of two thousand characters. */
const MOST_CHARACTERS_OF_A_SHEET = 2 * 1024 ** 3;

interface RepeatedRow {
  readonly row: SheetRow;
  readonly repeat: number;
}

/**
 * Collects the rows of one sheet from its tags. Limits their size: a few kilobytes can name one long text in each cell,
 * or repeat a row a million times.
 */
export class SheetBuilder {
  readonly merged: MergedRange[] = [];
  readonly hiddenColumns: SheetRows['hiddenColumns'][number][] = [];
  readonly #mostCharacters: number;
  #rows: RepeatedRow[] = [];
  #isInRow = false;
  #cells: (SheetCell | undefined)[] = [];
  #ofRow = 0;
  #ofSheet = 0;

  /** `packedBytes` is the compressed size of the part that holds the sheet. */
  constructor(packedBytes: number) {
    const allowed = Math.max(CHARACTERS_OF_ANY_SHEET, packedBytes * MOST_RATIO);
    this.#mostCharacters = Math.min(allowed, MOST_CHARACTERS_OF_A_SHEET);
  }

  beginRow(): void {
    if (this.#isInRow) throw damaged('one of its rows holds another one');
    this.#isInRow = true;
    this.#cells = [];
    this.#ofRow = 0;
  }

  get hasCells(): boolean {
    return this.#cells.length > 0;
  }

  /** Puts a cell into the open row, `repeat` times from `column` on. @throws Refusal `workbook-too-large` */
  put(column: number, cell: SheetCell, repeat = 1): void {
    if (column + repeat > MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
    this.#ofRow += cell.text.length * repeat;
    if (this.#ofRow > LONGEST_ROW) throw tooLarge('characters in one row', LONGEST_ROW);
    for (let at = 0; at < repeat; at += 1) this.#cells[column + at] = cell;
  }

  /** Ends a row that stands for `repeat` rows. Drops a row without cells. @throws Refusal `workbook-too-large` */
  endRow(row: number, hidden: boolean, repeat = 1): void {
    this.#isInRow = false;
    if (!this.hasCells) return;
    if (row + repeat - 1 > MOST_ROWS) throw tooLarge('rows', MOST_ROWS);
    const characters = this.#ofRow + this.#cells.length;
    if (characters > LONGEST_ROW) throw tooLarge('characters in one row', LONGEST_ROW);
    this.#ofSheet += characters * repeat;
    if (this.#ofSheet > this.#mostCharacters) throw tooLarge('characters in a sheet of its size', this.#mostCharacters);
    this.#rows.push({ row: { row, hidden, cells: this.#cells }, repeat });
  }

  hideColumns(first: number, last: number): void {
    if (this.hiddenColumns.length >= MOST_COLUMNS) throw tooLarge('runs of hidden columns', MOST_COLUMNS);
    this.hiddenColumns.push({ first, last });
  }

  merge(range: MergedRange): void {
    if (this.merged.length >= MOST_MERGED) throw tooLarge('merged cells', MOST_MERGED);
    this.merged.push(range);
  }

  /** Returns the rows since the last call. */
  take(): Iterable<SheetRow> {
    const rows = this.#rows;
    this.#rows = [];
    return expanded(rows);
  }
}

function* expanded(rows: readonly RepeatedRow[]): Generator<SheetRow> {
  for (const { row, repeat } of rows) for (let at = 0; at < repeat; at += 1) yield { ...row, row: row.row + at };
}
