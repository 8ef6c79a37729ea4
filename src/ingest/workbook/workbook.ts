import type { CsvRecord } from '../csv/csv-reader.ts';
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
  /** Its number in the sheet, from 1. */
  readonly row: number;
  readonly hidden: boolean;
  /** By position; undefined where the cell is empty. */
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
  /** Positions of columns, from 0. */
  readonly hiddenColumns: readonly { readonly first: number; readonly last: number }[];
}

/** An opened XLSX or ODS file. */
export interface Workbook {
  readonly format: 'xlsx' | 'ods';
  /** In the order of the file. */
  readonly sheets: readonly Sheet[];
  /** The program that wrote it asks for all formulas to be calculated again: their values are not to be believed. */
  readonly recalculates: boolean;
  readonly hasMacros: boolean;
  readonly linksElsewhere: boolean;
  rows(sheet: Sheet, signal?: AbortSignal): SheetRows;
  close(): void;
}
