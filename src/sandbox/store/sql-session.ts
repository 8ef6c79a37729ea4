/** A statement with its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly string[];
}

/** One row of a result, by column name. */
export type Row = Record<string, unknown>;

/** The little of SQL that the store needs. */
export interface SqlSession {
  /** Runs one statement and gives its rows. */
  query(statement: Statement): Promise<readonly Row[]>;
  /** Runs all of the statements in one transaction. */
  transaction(statements: readonly Statement[]): Promise<void>;
  close(): Promise<void>;
}
