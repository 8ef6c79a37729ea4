import type { Column } from '../domain/row.ts';
import type { DecimalMark } from './invoice/read-number.ts';

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
