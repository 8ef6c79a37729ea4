import type { MeasureStatement } from '../../domain/ports/measures.ts';
import type { Database, Queries } from './database.ts';
import { statementLabel } from './statement-label.ts';

/** Of a statement that is not the ledger's own: migrations, BEGIN, COMMIT. */
const UNNAMED = 'other';

/**
 * The same database; each statement is measured from asking to answer, with its wait for a connection. Without
 * `measure`, the database itself comes back.
 */
export function measuredDatabase(database: Database, measure: MeasureStatement | undefined): Database {
  if (measure === undefined) return database;
  return {
    ...measuredQueries(database, measure),
    transaction: (work) =>
      timed('transaction', measure, () => database.transaction((queries) => work(measuredQueries(queries, measure)))),
    close: () => database.close(),
  };
}

function measuredQueries(queries: Queries, measure: MeasureStatement): Queries {
  return {
    query: (text, params) => timed(statementLabel(text) ?? UNNAMED, measure, () => queries.query(text, params)),
  };
}

async function timed<Result>(
  statement: string,
  measure: MeasureStatement,
  work: () => Promise<Result>,
): Promise<Result> {
  const began = performance.now();
  let failed = true;
  try {
    const result = await work();
    failed = false;
    return result;
  } finally {
    measure(statement, performance.now() - began, failed);
  }
}
