import type { Column } from '../../domain/row.ts';

/** How a CSV file was written, so that what goes back to its author opens in the same program. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly newline: '\n' | '\r\n' | '\r';
  /** A name that iconv-lite knows: `utf8`, `windows-1252`, `utf-16le`, ... */
  readonly encoding: string;
  readonly byteOrderMark: boolean;
}

/** A CSV record as it stands in the file: cells undecoded, in the file's own column order. */
export interface OriginalRecord {
  readonly row: number;
  readonly cells: readonly string[];
  readonly original?: string;
}

/** A dropped CSV file, opened to copy records of it into the corrections file. */
export interface OriginalCsv {
  readonly kind: 'csv';
  /** `readAsText` of what its rows alone may not prove; empty when there is nothing. */
  readonly readAs?: string;
  readonly extension: string;
  readonly header: readonly string[];
  readonly dialect: CsvDialect;
  /** Its records have their original cells; those of a file that an earlier Lote read have none. */
  readonly hasOriginals?: boolean;
  readonly records: AsyncIterable<OriginalRecord>;
}

/** One invoice object of a JSON file. */
export interface OriginalObject {
  readonly rows: readonly number[];
  /** Its exact text, so that number tokens go back as they came. */
  readonly text: string;
}

/** A dropped JSON or NDJSON file, opened to copy objects of it into the corrections file. */
export interface OriginalJson {
  readonly kind: 'json';
  readonly readAs?: string;
  readonly format: 'array' | 'invoices' | 'ndjson';
  readonly objects: AsyncIterable<OriginalObject>;
}

/** A cell of a sheet as the file holds it; of a formula the value that was saved with it. */
export interface OriginalCell {
  /** `none`: no value that could be believed, such as that of a formula which nothing has calculated. */
  readonly kind: 'text' | 'number' | 'date' | 'boolean' | 'error' | 'none';
  /** A number as its decimal text, a date in ISO 8601, any other value as it is shown. */
  readonly text: string;
  /** Its number format as XLSX names it: the code, or the number of one that needs none; null: as the value is. */
  readonly format: string | number | null;
}

/** A row of a sheet; a cell is undefined where the sheet has none. */
export interface OriginalSheetRow {
  readonly row: number;
  readonly hidden: boolean;
  readonly cells: readonly (OriginalCell | undefined)[];
}

/** Cells shown as one; columns from 0, both ends included. */
export interface MergedCells {
  readonly firstRow: number;
  readonly lastRow: number;
  readonly firstColumn: number;
  readonly lastColumn: number;
}

/** A dropped workbook, opened to copy rows of its sheet into a workbook of corrections. */
export interface OriginalSheet {
  readonly kind: 'sheet';
  readonly name: string;
  readonly header: readonly string[];
  /** As in CSV; never empty: it says that this is a workbook. */
  readonly readAs: string;
  /** Where a column stands, from 0, and what it holds, by the name that findings give it. */
  readonly columns: ReadonlyMap<string, { readonly position: number; readonly column: Column }>;
  readonly rows: AsyncIterable<OriginalSheetRow>;
  /** To be asked when the rows are at their end. */
  readonly merged: () => readonly MergedCells[];
}

/** The dropped file, as report needs it to hand the bad invoices back. */
export type OriginalFile = OriginalCsv | OriginalJson | OriginalSheet;
