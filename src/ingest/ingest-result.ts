import { z } from 'zod';
import type { Finding } from '../domain/invoice.ts';
import { COLUMNS, type Column } from '../domain/row.ts';
import type { DecimalMark } from './invoice/read-number.ts';

/** Columns whose cells are numbers. */
export const NUMBER_COLUMNS = ['quantity', 'unit_price'] as const;

/** Name of a column whose cells are numbers. */
export type NumberColumn = (typeof NUMBER_COLUMNS)[number];

const SheetDialect = z.object({
  name: z.string(),
  /** Positions of the columns, as in `HeaderMap`. */
  indexes: z.array(z.number()).readonly(),
  referenceParts: z.array(z.number()).readonly(),
});
/** What of a workbook was read, so that its rows can be written as text again. */
export type SheetDialect = z.infer<typeof SheetDialect>;

const ReadColumn = z.object({ at: z.number(), header: z.string(), column: z.enum(COLUMNS) });
/** A column that is read, or that holds a part of the reference: its position in the record, from 0, and its header, shortened. */
export type ReadColumn = z.infer<typeof ReadColumn>;

/** How the file is written, so that it can be read again, and corrections be written in the same way. */
export const Dialect = z.object({
  format: z.enum(['csv', 'json', 'ndjson', 'xlsx', 'ods']),
  encoding: z.string(),
  bom: z.boolean(),
  /** null in JSON, like the fields below. */
  delimiter: z.string().nullable(),
  lineEnd: z.string().nullable(),
  /** Line on which the header stands; records above it are preamble. */
  headerRow: z.number().nullable(),
  header: z.array(z.string()).readonly(),
  /** How many trailing cells whole rows of a CSV file have; left out where the header has as many. Proofs hold it by this name. */
  unnamed: z.int().min(0).optional(),
  /** Missing in JSON. */
  read: z.array(ReadColumn).readonly().optional(),
  sheet: SheetDialect.optional(),
  /** In JSON: a list, or an object whose member `invoices` is one. */
  frame: z.enum(['array', 'invoices']).optional(),
  /** True for a corrections file of Lote's own (it has `lote_state` and `lote_reason`): its inert cells of CSV lose their `'`. */
  own: z.boolean(),
});
export type Dialect = z.infer<typeof Dialect>;
/** Kind of a file, by its content. */
export type FileFormat = Dialect['format'];

/** What is needed to turn raw cells into an invoice; plain JSON, so that it can wait in the ledger beside the rows. */
export interface Conversion {
  readonly format: FileFormat;
  readonly decimal: DecimalMark;
  readonly duplicateRows: 'refuse' | 'keep';
  readonly lookAlikes: 'refuse' | 'keep';
  /** The file's own name of each column, for findings. */
  readonly labels: Readonly<Record<Column, string>>;
  /** Findings that only the reader could make (cell count, JSON shape), by row number. */
  readonly damaged: Readonly<Record<string, readonly Finding[]>>;
  /** References of rows whose tax number is unusable, with the row: invoices of such a reference may lack a line. */
  readonly lostReferences: Readonly<Record<string, number>>;
  /** The file ends inside this reference of this row: an invoice whose reference begins so may lack a line. */
  readonly cutReference?: { readonly text: string; readonly row: number } | undefined;
  /** The file's name of a tax -> the service's code; null: no profile says. */
  readonly taxCodes: Readonly<Record<string, string>> | null;
  /** All long references of the file, or of the file of these corrections, have lost digits in a spreadsheet, as far as they show. */
  readonly areReferencesCut?: boolean | undefined;
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
