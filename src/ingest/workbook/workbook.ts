import type { CsvRecord } from '../csv/csv-reader.ts';
import { HEADER_WITHIN } from '../profile/map-header.ts';
import { MOST_CHARACTERS_OF_HEADS, tooLarge } from './limits.ts';
import type { NumberFormat } from './number-format.ts';

/** The content of a sheet's cell. `missing` means a formula that no program has calculated. */
export type CellKind = 'text' | 'number' | 'date' | 'boolean' | 'error' | 'missing';

/** A cell that has content or a formula. */
export interface SheetCell {
  readonly kind: CellKind;
  /** A number as its decimal text in the file, a date in ISO 8601, or any other value as the sheet shows it. */
  readonly text: string;
  /** The format of a number or text. In XLSX every cell has one, because Lote writes it back. */
  readonly format: NumberFormat | null;
  /** True if a program calculated the value when it saved the file. */
  readonly formula: boolean;
}

/** A row of a sheet with at least one cell with content. */
export interface SheetRow {
  readonly row: number;
  readonly hidden: boolean;
  readonly cells: readonly (SheetCell | undefined)[];
}

/** Cells shown as one. Columns count from 0 and rows from 1, and both ends are included. */
export interface MergedRange {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** A sheet and its first rows as texts, by which Lote chooses a sheet. */
export interface Sheet {
  readonly name: string;
  readonly hidden: boolean;
  readonly head: readonly CsvRecord[];
}

/** The rows of one sheet as Lote reads them. The other lists are complete only after the last row. */
export interface SheetRows {
  /** Rows in portions of a few kilobytes of the file. The caller must consume each portion before the next. */
  readonly portions: AsyncIterable<Iterable<SheetRow>>;
  readonly merged: readonly MergedRange[];
  readonly hiddenColumns: readonly { readonly first: number; readonly last: number }[];
}

/** An opened XLSX or ODS file. */
export interface Workbook {
  readonly format: 'xlsx' | 'ods';
  readonly sheets: readonly Sheet[];
  /** The program asks to calculate all formulas again: saved values are not reliable. */
  readonly recalculates: boolean;
  rows(sheet: Sheet, signal?: AbortSignal): SheetRows;
  close(): void;
}

/** Collects the first rows of each sheet as texts, with a limit for all sheets of a workbook together. */
export class SheetHeads {
  readonly #heads = new Map<number, CsvRecord[]>();
  #characters = 0;

  /** Adds rows to the head of a sheet. Returns false if that head is complete. @throws Refusal `workbook-too-large` */
  addAll(sheet: number, rows: Iterable<SheetRow>): boolean {
    const head = this.#heads.get(sheet) ?? [];
    this.#heads.set(sheet, head);
    for (const row of rows) {
      if (head.length >= HEADER_WITHIN) return false;
      const cells = shownCells(row);
      for (const cell of cells) this.#characters += cell.length + 1;
      if (this.#characters > MOST_CHARACTERS_OF_HEADS)
        throw tooLarge('characters in the first rows of its sheets', MOST_CHARACTERS_OF_HEADS);
      head.push({ row: row.row, cells });
    }
    return true;
  }

  of(sheet: number): readonly CsvRecord[] {
    return this.#heads.get(sheet) ?? [];
  }
}

/** Returns the cells of a row as texts, up to the last cell with content. */
export function shownCells({ cells }: SheetRow): readonly string[] {
  return Array.from(cells, (cell) => cell?.text ?? '');
}
