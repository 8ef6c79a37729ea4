import { z } from 'zod';
import type { Finding } from '../domain/invoice.ts';
import { COLUMNS, type Column } from '../domain/row.ts';
import type { DecimalMark } from './invoice/read-number.ts';

/** Columns whose cells are numbers. */
export const NUMBER_COLUMNS = ['quantity', 'unit_price'] as const;

/** Name of a column whose cells are numbers. */
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];

const ReadColumn = z.object({ at: z.number(), header: z.string(), column: z.enum(COLUMNS) });
/** A column that Lote reads, also as a part of the reference: its position and its shortened header. */
export type ReadColumn = z.infer<typeof ReadColumn>;

/** How the file is written, so that Lote can read it again and write corrections in the same way. */
export const Dialect = z.object({
  format: z.enum(['csv', 'json', 'ndjson', 'xlsx', 'ods']),
  encoding: z.string(),
  bom: z.boolean(),
  /** This field and the next two are null in JSON. */
  delimiter: z.string().nullable(),
  lineEnd: z.string().nullable(),
  /** Line of the header; the records above it are preamble. */
  headerRow: z.number().nullable(),
  header: z.array(z.string()).readonly(),
  /** The columns that Lote reads; empty in JSON. */
  read: z.array(ReadColumn).readonly(),
  /** The sheet of a workbook. */
  sheet: z.object({ name: z.string() }).optional(),
  /** JSON only: the file is a list, or an object whose member `invoices` is a list. */
  frame: z.enum(['array', 'invoices']).optional(),
  /** True for a corrections file of Lote: the `'` in front of its inert cells is removed. */
  own: z.boolean(),
});
export type Dialect = z.infer<typeof Dialect>;
/** Format of a file, determined by its content. */
export type FileFormat = Dialect['format'];

/** Everything that turns raw cells into an invoice, as plain JSON for the ledger. */
export interface Conversion {
  readonly format: FileFormat;
  readonly decimal: DecimalMark;
  readonly duplicateRows: 'refuse' | 'keep';
  readonly lookAlikes: 'refuse' | 'keep';
  /** The file's own name of each column, for findings. */
  readonly labels: Readonly<Record<Column, string>>;
  /** Findings that only the reader could make (cell count, JSON shape), by row number. */
  readonly damaged: Readonly<Record<string, readonly Finding[]>>;
  /** References of rows with an unusable tax number and the row: such an invoice may lack a line. */
  readonly lostReferences: Readonly<Record<string, number>>;
  /** Maps the file's name of a tax to the service's code; null if no profile declares any. */
  readonly taxCodes: Readonly<Record<string, string>> | null;
  /** True if all long references, here or in the corrected file, seem cut by a spreadsheet. */
  readonly areReferencesCut?: boolean | undefined;
}

/** Evidence of how a file was read, as plain JSON. */
export type Proof = Readonly<Record<string, unknown>>;

/** The result of reading a file once. */
export type IngestResult =
  | {
      readonly ok: true;
      readonly format: FileFormat;
      readonly sha256: string;
      readonly rows: number;
      readonly rowsWithoutInvoice: number;
      /** Rows without an invoice that are not totals rows: each may be a lost line or a lost invoice. */
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
