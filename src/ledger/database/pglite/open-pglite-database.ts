import type { Database, Queries, SqlValue } from '../database.ts';
import { runTransaction } from '../run-transaction.ts';
import { StatementFailure } from '../statement-failure.ts';
import { requireEngineVersion } from './engine-version.ts';
import { openLastingDatabase, type Session } from './lasting-database.ts';
import type { ThreadQuery, ThreadResult } from './message.ts';

interface WaitingQuery extends ThreadQuery {
  readonly resolve: (rows: readonly object[]) => void;
  readonly reject: (error: unknown) => void;
}

/** PGlite has one connection: a turn is either all the single queries that wait, in one message, or one whole transaction. */
type Turn =
  | { readonly kind: 'queries'; readonly queries: WaitingQuery[] }
  | { readonly kind: 'transaction'; readonly run: () => Promise<void> };

/**
 * PGlite in a worker thread. The caller holds the lock on the directory: PGlite has none, and two processes would both write and silently lose.
 * @throws LoteError `ledger-unavailable` when the database does not start; `ledger-conflict` for files of another version of PostgreSQL.
 */
export async function openPgliteDatabase(directory: string): Promise<Database> {
  await requireEngineVersion(directory);
  const lasting = await openLastingDatabase(directory);
  const turns: Turn[] = [];
  let busy = false;

  return { query, transaction, close: () => lasting.close() };

  function query<Row extends object>(text: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return new Promise((resolve, reject) => {
      const waiting: WaitingQuery = { text, params, resolve: resolve as (rows: readonly object[]) => void, reject };
      const last = turns.at(-1);
      if (last?.kind === 'queries') last.queries.push(waiting);
      else turns.push({ kind: 'queries', queries: [waiting] });
      void takeTurns();
    });
  }

  function transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      turns.push({ kind: 'transaction', run: () => runAlone(work).then(resolve, reject) });
      void takeTurns();
    });
  }

  async function takeTurns(): Promise<void> {
    if (busy) return;
    busy = true;
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) {
      await (turn.kind === 'queries' ? runQueries(turn.queries) : turn.run());
    }
    busy = false;
  }

  async function runQueries(queries: readonly WaitingQuery[]): Promise<void> {
    try {
      const session = await lasting.session();
      const results = await session.run(queries.map(({ text, params }) => ({ text, params })));
      for (const [index, one] of queries.entries()) settle(session, one, results[index]);
    } catch (error) {
      for (const one of queries) one.reject(error);
    }
  }

  function settle(session: Session, one: WaitingQuery, result: ThreadResult | undefined): void {
    try {
      one.resolve(rowsOf(session, one.text, result));
    } catch (error) {
      one.reject(error);
    }
  }

  /** All of it in one session: after a new start, a statement of it would run by itself and count. */
  async function runAlone<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const session = await lasting.session();
    return runTransaction(
      {
        async query<Row extends object>(text: string, params: readonly SqlValue[] = []) {
          const [result] = await session.run([{ text, params }]);
          return rowsOf(session, text, result) as readonly Row[];
        },
      },
      work,
    );
  }
}

function rowsOf(session: Session, text: string, result: ThreadResult | undefined): readonly object[] {
  if (result?.kind === 'rows') return result.rows;
  if (result?.kind === 'refused') throw new StatementFailure(text, result.sqlState, result.constraint);
  // The WASM instance may be half-way through a write: only a fresh one can be trusted.
  throw session.giveUp(result?.error ?? 'no answer');
}
