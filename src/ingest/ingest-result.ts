import type { Finding } from '../domain/invoice.ts';
import type { Column } from '../domain/row.ts';
import type { DecimalMark } from './invoice/read-number.ts';

export type FileFormat = 'csv' | 'json' | 'ndjson' | 'xlsx' | 'ods';

/** Columns whose cells are numbers; each has its own decimal mark. */
export const NUMBER_COLUMNS = ['quantity', 'unit_price'] as const;

/** Name of a column whose cells are numbers. */
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];

/** What of a workbook was read, so that its rows can be written as text again. */
export interface SheetDialect {
  readonly name: string;
  /** Positions of the columns, as in `HeaderMap`. */
  readonly indexes: readonly number[];
  readonly referenceParts: readonly number[];
  /** Marks of the numbers that stand in it as texts. */
  readonly marks: Readonly<Record<NumberColumn, DecimalMark>>;
}

/** A column that is read, or that holds a part of the reference. */
export interface ReadColumn {
  /** Position in the record, from 0. */
  readonly at: number;
  /** Its header, shortened. */
  readonly header: string;
  readonly column: Column;
}

/** How the file is written, so that it can be read again, and corrections be written in the same way. */
export interface Dialect {
  readonly format: FileFormat;
  readonly encoding: string;
  readonly bom: boolean;
  /** null in JSON, like the fields below. */
  readonly delimiter: string | null;
  readonly lineEnd: string | null;
  /** Line on which the header stands; records above it are preamble. */
  readonly headerRow: number | null;
  /** Cells of the header as they stand in the file. */
  readonly header: readonly string[];
  /** How many trailing cells whole rows of a CSV file have; left out where the header has as many. Stored proofs hold it by this name. */
  readonly unnamed?: number | undefined;
  /** Missing in JSON, and in what a Lote before this member wrote. */
  readonly read?: readonly ReadColumn[] | undefined;
  /** Of a workbook. */
  readonly sheet?: SheetDialect | undefined;
  /** In JSON: a list, or an object whose member `invoices` is one. */
  readonly frame?: 'array' | 'invoices' | undefined;
  /** True for a corrections file of Lote's own (it has `lote_state` and `lote_reason`): its inert cells of CSV lose their `'`. */
  readonly own: boolean;
}

/** What is needed to turn raw cells into an invoice; plain JSON, so that it can wait in the ledger beside the rows. */
export interface Conversion {
  readonly format: FileFormat;
  readonly decimal: Readonly<Record<NumberColumn, DecimalMark>>;
  /**
   * The mark is declared although some cell reads only under the other one, here or in the file of these corrections: a cell that reads both
   * ways is then an error.
   */
  readonly doubtful: Readonly<Record<NumberColumn, boolean>>;
  readonly duplicateRows: 'refuse' | 'keep';
  readonly lookAlikes: 'refuse' | 'keep';
  /** The file's own name of each column, for findings. */
  readonly labels: Readonly<Record<Column, string>>;
  /** Findings that only the reader could make (cell count, JSON shape), by row number. */
  readonly damaged: Readonly<Record<string, readonly Finding[]>>;
  /** References of rows whose tax number is unusable, with the row: invoices of such a reference may lack a line. */
  readonly lostReferences: Readonly<Record<string, number>>;
  /** The file's name of a tax -> the service's code; null: no profile says. */
  readonly taxCodes: Readonly<Record<string, string>> | null;
  /** All long references of the file, or of the file of these corrections, have lost digits in a spreadsheet, as far as they show. */
  readonly areReferencesCut?: boolean;
}

/** JSON-plain evidence of how a file was read. */
export type Proof = Readonly<Record<string, unknown>>;

/** What one reading of a file gave. */
export type IngestResult =
  | {
      readonly ok: true;
      readonly format: FileFormat;
      readonly sha256: string;
      readonly rows: number;
      readonly rowsWithoutInvoice: number;
      /** Of those, rows that are no totals rows: each may be a lost line, or a lost invoice. */
      readonly rowsLost: number;
      readonly findings: readonly Finding[];
      readonly proof: Proof;
      readonly conversion: Conversion;
    }
  | {
      readonly ok: false;
      readonly refused: true;
      readonly sha256: string;
      readonly rows: number;
      readonly findings: readonly Finding[];
      readonly proof: Proof;
    };
