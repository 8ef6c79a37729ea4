import { MOST_COLUMNS, tooLarge } from '../limits.ts';

/** The default cell styles of the columns of a sheet, in runs. */
export class ColumnStyles {
  readonly #runs: { readonly end: number; readonly style: string | undefined }[] = [];
  #end = 0;

  /** Returns the position of the first column of the run, from 0. @throws Refusal `workbook-too-large` */
  add(style: string | undefined, repeat: number): number {
    if (this.#runs.length >= MOST_COLUMNS) throw tooLarge('runs of columns', MOST_COLUMNS);
    const first = this.#end;
    this.#end += repeat;
    this.#runs.push({ end: this.#end, style });
    return first;
  }

  /** By halves: each cell without a style of its own asks. */
  styleAt(column: number): string | undefined {
    let from = 0;
    let to = this.#runs.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (column < (this.#runs[middle]?.end ?? 0)) to = middle;
      else from = middle + 1;
    }
    return this.#runs[from]?.style;
  }
}
