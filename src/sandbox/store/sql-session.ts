/** A statement with its values; both drivers get the same text. */
export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** One row of a result, by column name. */
export type Row = Record<string, unknown>;

/** The little of SQL that the store needs, the same for PGlite and PostgreSQL. */
export interface SqlSession {
  /** Runs one statement and gives its rows. */
  query(statement: Statement): Promise<readonly Row[]>;
  /** Runs all of the statements in one transaction. */
  transaction(statements: readonly Statement[]): Promise<void>;
  close(): Promise<void>;
}
