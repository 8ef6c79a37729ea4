import type { RawRow } from '../row.ts';

/** Where rows wait until the whole file is read: in memory for a dry run, in the ledger for a batch. */
export interface RowStore {
  append(rows: readonly RawRow[]): Promise<void>;
  /** Rows that may be of one invoice (`groupKeyOf` in `look-alike.ts`), in file order of each group's first row; rows inside a group in file order. */
  groups(): AsyncIterable<readonly RawRow[]>;
}
