import type { CsvRecord } from '../csv/csv-reader.ts';
import { HEADER_WITHIN } from '../profile/found-header.ts';
import { MOST_CHARACTERS_OF_HEADS, tooLarge } from './limits.ts';
import type { NumberFormat } from './number-format.ts';

/** What a cell of a sheet holds. `missing`: a formula that no program has calculated. */
export type CellKind = 'text' | 'number' | 'date' | 'boolean' | 'error' | 'missing';

/** One cell that is not empty, or a formula. */
export interface SheetCell {
  readonly kind: CellKind;
  /** A number as its decimal text stands in the file, a date in ISO 8601, any other value as it is shown. */
  readonly text: string;
  /** Of numbers and texts; of any cell of XLSX, for what is written into it again. */
  readonly format: NumberFormat | null;
  /** The value is what a program calculated when it saved the file. */
  readonly formula: boolean;
}

/** One row of a sheet that has at least one cell with content. */
export interface SheetRow {
  readonly row: number;
  readonly hidden: boolean;
  readonly cells: readonly (SheetCell | undefined)[];
}

/** Cells shown as one; columns from 0, rows from 1, both ends included. */
export interface MergedRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** A sheet with its first rows as texts, by which it is chosen. */
export interface Sheet {
  readonly name: string;
  readonly hidden: boolean;
  readonly head: readonly CsvRecord[];
}

/** The rows of one sheet as they are read; the lists beside them are complete when the rows are at their end. */
export interface SheetRows {
  /** Rows in portions of a few kilobytes of the file, each to be consumed before the next one. */
  readonly portions: AsyncIterable<Iterable<SheetRow>>;
  readonly merged: readonly MergedRange[];
  readonly hiddenColumns: readonly { readonly first: number; readonly last: number }[];
}

/** An opened XLSX or ODS file. */
export interface Workbook {
  readonly format: 'xlsx' | 'ods';
  readonly sheets: readonly Sheet[];
  /** The program that wrote it asks for all formulas to be calculated again: their values are not to be believed. */
  readonly recalculates: boolean;
  rows(sheet: Sheet, signal?: AbortSignal): SheetRows;
  close(): void;
}

/** Collects the first rows of each sheet as texts, bounded over all sheets of a workbook. */
export class SheetHeads {
  readonly #heads = new Map<number, CsvRecord[]>();
  #characters = 0;

  /** Adds a row to the sheet of this place in the file; false when its head is whole. @throws Refusal `workbook-too-large` */
  add(sheet: number, row: SheetRow): boolean {
    const head = this.#heads.get(sheet) ?? [];
    this.#heads.set(sheet, head);
    if (head.length >= HEADER_WITHIN) return false;
    const cells = shownCells(row);
    for (const cell of cells) this.#characters += cell.length + 1;
    if (this.#characters > MOST_CHARACTERS_OF_HEADS)
      throw tooLarge('characters in the first rows of its sheets', MOST_CHARACTERS_OF_HEADS);
    head.push({ row: row.row, cells });
    return true;
  }

  of(sheet: number): readonly CsvRecord[] {
    return this.#heads.get(sheet) ?? [];
  }
}

/** The cells of a row as texts, up to the last one with content. */
export function shownCells({ cells }: SheetRow): readonly string[] {
  return Array.from(cells, (cell) => cell?.text ?? '');
}
