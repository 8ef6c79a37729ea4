/** How a CSV file was written, so that what goes back to its author opens in the same program. */
export interface CsvDialect {
  /** One character. */
  readonly delimiter: string;
  readonly newline: '\n' | '\r\n' | '\r';
  /** A name that iconv-lite knows: `utf8`, `windows-1252`, `utf-16le`, ... */
  readonly encoding: string;
  readonly byteOrderMark: boolean;
  /** Mark of its amounts where one was proved; report.csv writes amounts in it. Default `.`. */
  readonly decimalMark?: '.' | ',';
}

/** A CSV record as it stands in the file: cells undecoded, in the file's own column order. */
export interface OriginalRecord {
  /** The row number that findings and invoices use. */
  readonly row: number;
  readonly cells: readonly string[];
}

/** A dropped CSV file, opened to copy records of it into the corrections file. */
export interface OriginalCsv {
  readonly kind: 'csv';
  /** `readAsText` of what its rows alone may not prove; empty when there is nothing. */
  readonly readAs?: string;
  /** Without the dot, as the file had it: `csv`, `txt`, `tsv`. */
  readonly extension: string;
  readonly header: readonly string[];
  readonly dialect: CsvDialect;
  /** In file order; read once. */
  readonly records: AsyncIterable<OriginalRecord>;
}

/** One invoice object of a JSON file. */
export interface OriginalObject {
  /** Row numbers of its lines. */
  readonly rows: readonly number[];
  /** Its exact text, so that number tokens go back as they came. */
  readonly text: string;
}

/** A dropped JSON or NDJSON file, opened to copy objects of it into the corrections file. */
export interface OriginalJson {
  readonly kind: 'json';
  /** As in CSV. */
  readonly readAs?: string;
  readonly format: 'array' | 'invoices' | 'ndjson';
  /** In file order; read once. */
  readonly objects: AsyncIterable<OriginalObject>;
}

/** The dropped file, as report needs it to hand the bad invoices back. */
export type OriginalFile = OriginalCsv | OriginalJson;
