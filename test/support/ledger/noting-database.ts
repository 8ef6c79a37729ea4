import type { Database, Queries, SqlValue } from '../../../src/ledger/database/database.ts';

/** Is given each statement before it is asked for. */
export type NoteStatement = (text: string, params: readonly SqlValue[]) => void;

/** The same database; `note` hears of its statements, inside transactions and outside. */
export function notingDatabase(database: Database, note: NoteStatement): Database {
  return { ...notingTransactions(database, note), ...notingQueries(database, note) };
}

/** The same, but `note` hears of statements inside transactions alone. */
export function notingTransactions(database: Database, note: NoteStatement): Database {
  return {
    ...database,
    transaction: (work) => database.transaction((queries) => work(notingQueries(queries, note))),
  };
}

function notingQueries(queries: Queries, note: NoteStatement): Queries {
  return {
    query: (text, params = []) => {
      note(text, params);
      return queries.query(text, params);
    },
  };
}
