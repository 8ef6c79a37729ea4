import type { Column } from '../domain/row.ts';
import type { DecimalMark } from './invoice/read-number.ts';

/** What an operator or a profile declares about a file; whatever is left out must be proved by the file itself. */
export interface IngestOptions {
  /** Any encoding name that iconv knows, e.g. `cp850`. */
  readonly encoding?: string;
  /** The encoding where the bytes prove none: that of the file a corrections file was made of. */
  readonly likelyEncoding?: string;
  readonly delimiter?: string;
  /** Another delimiter that the file may have: that of the file a corrections file was made of. */
  readonly likelyDelimiter?: string;
  /** Name of the sheet of a workbook; without it the only visible one with a known header is read. */
  readonly sheet?: string;
  readonly decimal?: DecimalMark;
  /** What a profile says of its files: the words of a corrections file come before it, because the operator may have overruled the profile there. */
  readonly ofProfile?: Pick<IngestOptions, 'decimal' | 'duplicateRows'>;
  /** Identical rows within one invoice: `refuse` (default) makes the invoice invalid, `keep` takes them as lines of their own. */
  readonly duplicateRows?: 'refuse' | 'keep';
  /** References of one merchant that a person cannot tell apart: `refuse` (default) makes their invoices invalid, `keep` takes them as two. */
  readonly lookAlikes?: 'refuse' | 'keep';
  /** Column of Lote -> header of the file. */
  readonly columns?: Readonly<Partial<Record<Column, string>>>;
  /** Headers of the file whose cells are not sent; '' for columns without one. In JSON, paths of members. */
  readonly ignore?: readonly string[];
  /** Header -> the values in it of rows that are no invoices: such rows are counted and never sent. */
  readonly skip?: Readonly<Record<string, readonly string[]>>;
  /** Header of `skip` -> its values in rows that are invoices. A value that neither names is an error. */
  readonly invoices?: Readonly<Record<string, readonly string[]>>;
  /** Column of Lote -> the value that every row has; such a column need not be in the file. */
  readonly constants?: Readonly<Partial<Record<Column, string>>>;
  readonly reference?: ReferenceParts;
  /** The file's word for a tax -> the service's code; a word that is neither is an error. */
  readonly taxCodes?: Readonly<Record<string, string>>;
}

/** No part but the last may hold the separator: `1-1` + `1` and `1` + `1-1` would otherwise become one invoice. */
export interface ReferenceParts {
  readonly columns: readonly string[];
  readonly separator: string;
}
