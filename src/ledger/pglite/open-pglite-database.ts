import { LoteError } from '../../domain/errors.ts';
import type { Database, Queries, SqlValue } from '../database.ts';
import { runTransaction } from '../run-transaction.ts';
import { StatementFailure } from '../statement-failure.ts';
import { startDatabaseThread } from './database-thread.ts';
import type { ThreadQuery, ThreadResult } from './message.ts';

interface WaitingQuery extends ThreadQuery {
  readonly resolve: (rows: readonly object[]) => void;
  readonly reject: (error: unknown) => void;
}

/** PGlite has one connection: a turn is either all the single queries that wait, in one message, or one whole transaction. */
type Turn =
  | { readonly kind: 'queries'; readonly queries: WaitingQuery[] }
  | { readonly kind: 'transaction'; readonly run: () => Promise<void> };

/** PGlite in a worker thread. `directory` null: in memory. The lock on the directory is the caller's business. */
export async function openPgliteDatabase(directory: string | null): Promise<Database> {
  const thread = await startDatabaseThread(directory);
  const turns: Turn[] = [];
  let busy = false;
  let broken: LoteError | null = null;
  const direct: Queries = { query: queryAtOnce };

  return { query, transaction, close: () => thread.close() };

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
      turns.push({ kind: 'transaction', run: () => runTransaction(direct, work).then(resolve, reject) });
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
      const results = await ask(queries);
      for (const [index, one] of queries.entries()) settle(one, results[index]);
    } catch (error) {
      for (const one of queries) one.reject(error);
    }
  }

  function settle(one: WaitingQuery, result: ThreadResult | undefined): void {
    try {
      one.resolve(rowsOf(one.text, result));
    } catch (error) {
      one.reject(error);
    }
  }

  async function queryAtOnce<Row extends object>(
    text: string,
    params: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    const [result] = await ask([{ text, params }]);
    return rowsOf(text, result) as readonly Row[];
  }

  function ask(queries: readonly ThreadQuery[]): Promise<readonly ThreadResult[]> {
    if (broken !== null) return Promise.reject(broken);
    return thread.run(queries.map(({ text, params }) => ({ text, params })));
  }

  function rowsOf(text: string, result: ThreadResult | undefined): readonly object[] {
    if (result?.kind === 'rows') return result.rows;
    if (result?.kind === 'refused') throw new StatementFailure(text, result.sqlState, result.constraint);
    // The WASM instance may be half-way through a write: only a fresh one can be trusted.
    broken ??= new LoteError(
      'ledger-unavailable',
      `The embedded database broke down (${result?.error ?? 'no answer'}); start Lote again`,
    );
    throw broken;
  }
}
