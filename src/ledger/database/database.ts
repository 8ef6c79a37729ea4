/** What a statement may be given; arrays travel as array literals (`array-literal.ts`), the same for both drivers. */
export type SqlValue = string | number | null;

/** Runs single statements, each by itself or inside a transaction. */
export interface Queries {
  /** One statement, by itself. int8 comes back as number, bytea not at all, int[] and text[] as arrays. */
  query<Row extends object>(text: string, params?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/**
 * All that Lote asks of PGlite or PostgreSQL. Isolation is READ COMMITTED: each statement sees what was committed before it.
 * @throws LoteError `ledger-unavailable`; StatementFailure for everything the database itself refuses.
 */
export interface Database extends Queries {
  /** Commits when `work` resolves, else rolls back. `work` may run again after a deadlock, so it must have no effect outside. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}
