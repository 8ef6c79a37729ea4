import { isLedgerAway } from '../../domain/errors.ts';
import type { Database, Queries } from './database.ts';
import { isUniqueViolation, StatementFailure, statementLabel } from './statement-failure.ts';
import type { MeasureStatement } from '../../domain/records/measures.ts';

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
