import { LoteError } from '../../domain/errors.ts';
import type { MeasureStatement } from '../../domain/ports/measures.ts';
import type { Database, Queries } from './database.ts';
import { isUniqueViolation, StatementFailure } from './statement-failure.ts';
import { statementLabel } from './statement-label.ts';

/** Of a statement that is not the ledger's own: migrations, BEGIN, COMMIT. */
const UNNAMED = 'other';

/**
 * The same database; each statement is measured from asking to answer, with its wait for a connection. A statement that
 * fails inside a transaction fails the transaction, which alone counts. Without `measure`, the database itself comes back.
 */
export function measuredDatabase(database: Database, measure: MeasureStatement | undefined): Database {
  if (measure === undefined) return database;
  return {
    ...measuredQueries(database, measure, hasFailed),
    transaction: (work) =>
      timed({ statement: 'transaction', measure, counts: hasFailed }, () =>
        database.transaction((queries) => work(measuredQueries(queries, measure, () => false))),
      ),
    close: () => database.close(),
  };
}

interface Timing {
  readonly statement: string;
  readonly measure: MeasureStatement;
  /** Whether what was thrown counts as a failure. */
  readonly counts: (error: unknown) => boolean;
}

function measuredQueries(queries: Queries, measure: MeasureStatement, counts: Timing['counts']): Queries {
  return {
    query: (text, params) =>
      timed({ statement: statementLabel(text) ?? UNNAMED, measure, counts }, () => queries.query(text, params)),
  };
}

async function timed<Result>({ statement, measure, counts }: Timing, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  let failed = false;
  try {
    return await work();
  } catch (error) {
    failed = counts(error);
    throw error;
  } finally {
    measure(statement, performance.now() - began, failed);
  }
}

/** The ledger's own refusals, such as a lost claim, are no failures; neither is a writer that was faster: it is expected. */
function hasFailed(error: unknown): boolean {
  if (error instanceof StatementFailure) return !isUniqueViolation(error);
  return error instanceof LoteError && error.code === 'ledger-unavailable';
}
