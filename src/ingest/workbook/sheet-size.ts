import {
  CHARACTERS_OF_ANY_SHEET,
  LONGEST_ROW,
  MOST_CHARACTERS_AT_ONCE,
  MOST_RATIO,
  MOST_CHARACTERS_OF_A_SHEET,
  tooLarge,
} from './limits.ts';

/**
 * Bounds the rows of a sheet by the characters that a CSV file of them would have, cell by cell as they are read: a workbook of kilobytes
 * can name one long text in each of its cells, or repeat a row a million times.
 */
export class SheetSize {
  readonly #most: number;
  #ofRow = 0;
  #ofSheet = 0;
  #waiting = 0;

  /** `packedBytes`: of the part that holds the sheet, as it stands in the archive. */
  constructor(packedBytes: number) {
    const allowed = Math.max(CHARACTERS_OF_ANY_SHEET, packedBytes * MOST_RATIO);
    this.#most = Math.min(allowed, MOST_CHARACTERS_OF_A_SHEET);
  }

  beginSheet(): void {
    this.#ofSheet = 0;
  }

  beginRow(): void {
    this.#ofRow = 0;
  }

  /** Counts `repeat` cells with this text. @throws Refusal `workbook-too-large` */
  addCells(text: string, repeat = 1): void {
    this.#ofRow += text.length * repeat;
    if (this.#ofRow > LONGEST_ROW) throw tooLarge('characters in one row', LONGEST_ROW);
  }

  /** Counts a row of so many positions, empty ones among them, that stands for `repeat` rows. @throws Refusal `workbook-too-large` */
  endRow(positions: number, repeat = 1): void {
    const characters = this.#ofRow + positions;
    if (characters > LONGEST_ROW) throw tooLarge('characters in one row', LONGEST_ROW);
    this.#ofSheet += characters * repeat;
    if (this.#ofSheet > this.#most) throw tooLarge('characters in a sheet of its size', this.#most);
    this.#waiting += characters;
    if (this.#waiting > MOST_CHARACTERS_AT_ONCE)
      throw tooLarge('characters in rows that stand together', MOST_CHARACTERS_AT_ONCE);
  }

  /** The rows so far were taken: their texts are no longer in memory. */
  taken(): void {
    this.#waiting = 0;
  }
}
