import { MOST_COLUMNS, damaged, tooLarge } from '../limits.ts';
import { rangeOf } from './cell-place.ts';

/**
 * The cells that array formulas and data tables fill. Only the first cell of each names the formula; the others look like numbers that
 * somebody entered.
 */
export class ArrayFormulas {
  /** Last row of the formula that fills cells of this column. */
  readonly #until: number[] = [];

  /** `reference`: the cells that the formula in this cell fills; left out for a formula of one cell. */
  begin(row: number, column: number, reference: string | undefined): void {
    if (reference === undefined) return;
    const range = rangeOf(reference);
    if (range === null || range.first.row !== row || range.first.column !== column)
      throw damaged(`a formula in row ${row} fills cells that do not begin with its own`);
    const { last } = range;
    if (last.column >= MOST_COLUMNS) throw tooLarge('columns', MOST_COLUMNS);
    if (last.row === row && last.column === column) return;
    for (let at = column; at <= last.column; at += 1) {
      if (this.covers(row, at)) throw damaged(`a formula in row ${row} fills cells of another one`);
      this.#until[at] = last.row;
    }
  }

  covers(row: number, column: number): boolean {
    return row <= (this.#until[column] ?? 0);
  }
}
