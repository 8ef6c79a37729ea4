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

/** What an operator or a profile declares about a file. The file itself must prove every option that is absent. */
export interface IngestOptions {
  /** Any encoding name that iconv knows, such as `cp850`. */
  readonly encoding?: string;
  /** The encoding to use if the bytes prove none: the encoding of the file that these corrections were made from. */
  readonly likelyEncoding?: string;
  readonly delimiter?: string;
  /** Another delimiter to try: the delimiter of the file that these corrections were made from. */
  readonly likelyDelimiter?: string;
  /** Name of the sheet of a workbook. Without it, Lote reads the only visible sheet that has a known header. */
  readonly sheet?: string;
  readonly decimal?: DecimalMark;
  /** Options of the profile, which the operator may have overruled in the corrections file. */
  readonly ofProfile?: Pick<IngestOptions, 'decimal' | 'duplicateRows'>;
  /** Identical rows within one invoice: `refuse` (default) makes the invoice invalid, `keep` makes each row a line. */
  readonly duplicateRows?: 'refuse' | 'keep';
  /** References that look alike: `refuse` (default) makes both invoices invalid, `keep` makes two invoices. */
  readonly lookAlikes?: 'refuse' | 'keep';
  /** Maps a column of Lote to a header of the file. */
  readonly columns?: Readonly<Partial<Record<Column, string>>>;
  /** Headers of the file whose cells are not sent; '' means columns without a header. In JSON, paths of members. */
  readonly ignore?: readonly string[];
  /** Maps a header to the values that mark rows as no invoices: Lote counts such rows and never sends them. */
  readonly skip?: Readonly<Record<string, readonly string[]>>;
  /** Maps a header of `skip` to the values that mark rows of invoices. A value in neither list is an error. */
  readonly invoices?: Readonly<Record<string, readonly string[]>>;
  /** Maps a column of Lote to the value that every row has; the file need not have such a column. */
  readonly constants?: Readonly<Partial<Record<Column, string>>>;
  readonly reference?: ReferenceParts;
  /** Maps the file's word for a tax to the service's code; a word that is neither is an error. */
  readonly taxCodes?: Readonly<Record<string, string>>;
}

/** Only the last part may contain the separator: `1-1` + `1` and `1` + `1-1` would otherwise become one invoice. */
export interface ReferenceParts {
  readonly columns: readonly string[];
  readonly separator: string;
}
