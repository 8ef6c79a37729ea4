import type { Queries, SqlValue } from './database.ts';

/**
 * BEGIN, work, COMMIT on one connection. A statement that failed inside and was swallowed by `work` still fails the whole:
 * the database answers such a COMMIT with a silent ROLLBACK, and that must never be taken for a commit.
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
