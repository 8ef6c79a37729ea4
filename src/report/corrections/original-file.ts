import type { Column } from '../../domain/row.ts';

/** The dialect of a CSV file, so that the corrections open in the same program. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly newline: '\n' | '\r\n' | '\r';
  /** A name that iconv-lite knows: `utf8`, `windows-1252`, `utf-16le`, ... */
  readonly encoding: string;
  readonly byteOrderMark: boolean;
}

/** A CSV record as in the file: cells undecoded, in the file's own column order. */
export interface OriginalRecord {
  readonly row: number;
  readonly cells: readonly string[];
  /** The text of the column `lote_original`. */
  readonly original: string;
}

/** A dropped CSV file, opened to copy records of it into the corrections file. */
export interface OriginalCsv {
  readonly kind: 'csv';
  /** `readAsText` of the options that the rows alone may not prove; empty if there are none. */
  readonly readAs: string;
  readonly extension: string;
  readonly header: readonly string[];
  readonly dialect: CsvDialect;
  readonly records: AsyncIterable<OriginalRecord>;
}

/** One invoice object of a JSON file. */
export interface OriginalObject {
  readonly rows: readonly number[];
  /** Name and exact text of each member, so that number tokens stay unchanged. */
  readonly members: readonly (readonly [name: string, text: string])[];
}

/** A dropped JSON or NDJSON file, opened to copy objects of it into the corrections file. */
export interface OriginalJson {
  readonly kind: 'json';
  readonly readAs: string;
  readonly format: 'array' | 'invoices' | 'ndjson';
  readonly objects: AsyncIterable<OriginalObject>;
}

/** A cell of a sheet as in the file; for a formula, the value that was saved with it. */
export interface OriginalCell {
  /** `error`: no reliable value, such as that of a formula that no program has calculated. */
  readonly kind: 'text' | 'number' | 'error';
  /** A number as decimal text, a date in ISO 8601, any other value as the spreadsheet shows it. */
  readonly text: string;
  /** XLSX number format: the code, or the number of a format without a code. Null shows the value as it is. */
  readonly format: string | number | null;
}

/** A row of a sheet; missing cells are undefined. */
export interface OriginalSheetRow {
  readonly row: number;
  readonly hidden: boolean;
  readonly cells: readonly (OriginalCell | undefined)[];
}

/** A dropped workbook, opened to copy rows of its sheet into a workbook of corrections. */
export interface OriginalSheet {
  readonly kind: 'sheet';
  readonly name: string;
  readonly header: readonly string[];
  /** As in CSV. Never empty, because it says that the file is a workbook. */
  readonly readAs: string;
  /** Position (from 0) and content of each column, by the name that findings use. */
  readonly columns: ReadonlyMap<string, { readonly position: number; readonly column: Column }>;
  readonly rows: AsyncIterable<OriginalSheetRow>;
  /** The rows of each range of merged cells. Call this only after the last row. */
  readonly merged: () => readonly { readonly firstRow: number; readonly lastRow: number }[];
}

/** The dropped file in the form that the report needs to write the corrections. */
export type OriginalFile = OriginalCsv | OriginalJson | OriginalSheet;
