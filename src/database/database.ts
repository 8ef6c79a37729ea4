import { isLedgerAway } from '../domain/errors.ts';
import { isUniqueViolation, StatementFailure, statementLabel } from './statement-failure.ts';
import type { MeasureStatement } from '../domain/records/measures.ts';

/** A parameter of a statement. Arrays are passed as array literals (`src/ledger/sql.ts`), the same for both drivers. */
export type SqlValue = string | number | null;

/** Runs single statements, inside or outside a transaction. */
export interface Queries {
  /** Runs one statement. Column `batch_id` becomes `batchId`, int8 a number, int[] and text[] arrays; bytea is not supported. */
  query<Row extends object>(text: string, params?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/**
 * The operations that Lote needs from PGlite or PostgreSQL. Isolation is READ COMMITTED: each statement sees all earlier commits.
 * @throws LoteError `ledger-unavailable`; StatementFailure for everything the database itself refuses.
 */
export interface Database extends Queries {
  /** Commits when `work` resolves, and rolls back if it rejects. `work` may run again after a deadlock, so it must have no outside effect. */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Returns the row of a statement that returns exactly one, such as a count. */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('A statement that must return one row returned none');
  return row;
}

const names = new Map<string, string>();

/** Converts rows to objects, with camelCase names for the columns. */
export function rowsOf<Row extends object>(
  columns: readonly string[],
  values: readonly (readonly unknown[])[],
): readonly Row[] {
  const keys = columns.map(keyOf);
  return values.map((row) => {
    const made: Record<string, unknown> = {};
    for (let index = 0; index < keys.length; index += 1) made[keys[index] ?? ''] = row[index];
    return made as Row;
  });
}

function keyOf(column: string): string {
  const known = names.get(column);
  if (known !== undefined) return known;
  const key = column.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  names.set(column, key);
  return key;
}

/**
 * Runs BEGIN, `work` and COMMIT on one connection. If `work` swallows the failure of a statement, the transaction still
 * fails, because the database answers such a COMMIT with a silent ROLLBACK.
 */
export async function runTransaction<Result>(
  connection: Queries,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  const failures: Error[] = [];
  await connection.query('BEGIN');
  try {
    const result = await work({ query: watched });
    const [failure] = failures;
    if (failure !== undefined) throw failure;
    await connection.query('COMMIT');
    return result;
  } catch (error) {
    await rollBack(connection);
    // After a failed statement the database refuses all later ones (25P02); only the first error is informative.
    throw failures.includes(error as Error) ? failures[0] : error;
  }

  async function watched<Row extends object>(text: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    try {
      return await connection.query<Row>(text, params);
    } catch (error) {
      failures.push(
        error instanceof Error
          ? error
          : new Error('A statement failed with something that is no error', { cause: error }),
      );
      throw error;
    }
  }
}

/** Ignores its own failure: the first error is the one to report, and a lost connection has rolled back by itself. */
async function rollBack(connection: Queries): Promise<void> {
  try {
    await connection.query('ROLLBACK');
  } catch {
    // The caller reports the first error.
  }
}

/** Label of a statement without a name: migrations, BEGIN, COMMIT. */
const UNNAMED = 'other';

/**
 * Measures each statement from its request to its answer, including the wait for a connection. A statement that fails
 * inside a transaction fails the transaction, and only the transaction counts as failed.
 */
export function measuredDatabase(database: Database, measure: MeasureStatement | undefined): Database {
  if (measure === undefined) return database;
  const timed = async <Result>(statement: string, counts: boolean, work: () => Promise<Result>): Promise<Result> => {
    const began = performance.now();
    let failed = false;
    try {
      return await work();
    } catch (error) {
      failed = counts && hasFailed(error);
      throw error;
    } finally {
      measure(statement, performance.now() - began, failed);
    }
  };
  const measured = (queries: Queries, counts: boolean): Queries => ({
    query: (text, params) => timed(statementLabel(text) ?? UNNAMED, counts, () => queries.query(text, params)),
  });
  return {
    ...measured(database, true),
    transaction: (work) =>
      timed('transaction', true, () => database.transaction((queries) => work(measured(queries, false)))),
    close: () => database.close(),
  };
}

/** A refusal by the ledger itself, such as a lost claim, is not a failure. A unique violation is not one either: a faster writer is expected. */
function hasFailed(error: unknown): boolean {
  if (error instanceof StatementFailure) return !isUniqueViolation(error);
  return isLedgerAway(error);
}
