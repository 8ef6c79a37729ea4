import { isLedgerAway } from '../../domain/errors.ts';
import { isUniqueViolation, StatementFailure, statementLabel } from './statement-failure.ts';
import type { MeasureStatement } from '../../domain/records/measures.ts';

/** What a statement may be given; arrays travel as array literals (`sql.ts`), the same for both drivers. */
export type SqlValue = string | number | null;

/** Runs single statements, each by itself or inside a transaction. */
export interface Queries {
  /** Runs one statement. Column `batch_id` becomes `batchId`, int8 a number, int[] and text[] arrays; bytea is not read. */
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

/** The row of a statement that returns exactly one, such as a count. */
export function onlyRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('A statement that must return one row returned none');
  return row;
}

const names = new Map<string, string>();

/** Rows of a result whose columns have these names, as objects with names of TypeScript. */
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
 * BEGIN, work, COMMIT on one connection. Where `work` swallows the failure of a statement, the whole fails all the same: the database answers such a COMMIT
 * with a silent ROLLBACK.
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
    // What follows a failed statement is refused because of it (25P02), and says nothing.
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

/** The first error is the one to tell; a connection that is gone has rolled back by itself. */
async function rollBack(connection: Queries): Promise<void> {
  try {
    await connection.query('ROLLBACK');
  } catch {
    // Nothing to add: see above.
  }
}

/** Of a statement that is not the ledger's own: migrations, BEGIN, COMMIT. */
const UNNAMED = 'other';

/**
 * Measures each statement from asking to answer, with its wait for a connection. A statement that fails inside a transaction fails the transaction, which
 * alone counts.
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

/** The ledger's own refusals, such as a lost claim, are no failures; neither is a writer that was faster: it is expected. */
function hasFailed(error: unknown): boolean {
  if (error instanceof StatementFailure) return !isUniqueViolation(error);
  return isLedgerAway(error);
}
