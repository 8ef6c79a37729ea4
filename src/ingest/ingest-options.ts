import type { Column } from '../domain/row.ts';
import type { DecimalMark } from './read-number.ts';

/** What an operator or a profile declares about a file; whatever is left out must be proved by the file itself. */
export interface IngestOptions {
  /** Any encoding name that iconv knows, e.g. `cp850`. */
  readonly encoding?: string;
  readonly delimiter?: string;
  readonly decimal?: DecimalMark;
  /** Identical rows within one invoice: `refuse` (default) makes the invoice invalid, `keep` takes them as lines of their own. */
  readonly duplicateRows?: 'refuse' | 'keep';
  /** Column of Lote -> header of the file. */
  readonly columns?: Readonly<Partial<Record<Column, string>>>;
}
