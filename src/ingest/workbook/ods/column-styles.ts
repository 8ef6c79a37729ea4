/** The default cell styles of the columns of a sheet, in runs. */
export class ColumnStyles {
  readonly #runs: { readonly end: number; readonly style: string | undefined }[] = [];
  #end = 0;

  /** Returns the position of the first column of the run, from 0. */
  add(style: string | undefined, repeat: number): number {
    const first = this.#end;
    this.#end += repeat;
    this.#runs.push({ end: this.#end, style });
    return first;
  }

  styleAt(column: number): string | undefined {
    return this.#runs.find(({ end }) => column < end)?.style;
  }
}
