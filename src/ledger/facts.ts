import { type Database, onlyRow, type Queries } from '../database/database.ts';
import { CLOCK } from './sql.ts';

const FIND_FACT = `/* find-fact */
SELECT (SELECT value FROM fact WHERE key = $1) AS value, ${CLOCK} AS now`;

/** Parameter: prefix. Lists all facts that were set and whose keys begin with the prefix. */
const LIST_FACTS = `/* list-facts */
SELECT key, value FROM fact WHERE starts_with(key, $1) AND value <> 'null'`;

/** Parameter: key. Makes the row if it is missing and locks it; the clock is read after that. */
const LOCK_FACT = `/* lock-fact */
INSERT INTO fact (key, value) VALUES ($1, 'null')
ON CONFLICT (key) DO UPDATE SET key = excluded.key
RETURNING value, ${CLOCK} AS now`;

const WRITE_FACT = `/* write-fact */
UPDATE fact SET value = $2 WHERE key = $1`;

interface FactRow {
  /** JSON. */
  readonly value: string | null;
  readonly now: number;
}

/** Reads a small value that all processes of the ledger share; null if it was never set. `now` is the database's clock. */
export async function findFact<Value>(
  queries: Queries,
  key: string,
): Promise<{ readonly value: Value | null; readonly now: number }> {
  const { value, now } = onlyRow(await queries.query<FactRow>(FIND_FACT, [key]));
  return { value: value === null ? null : (JSON.parse(value) as Value | null), now };
}

/** Returns the facts whose keys begin with `prefix`, by the rest of the key. */
export async function listFacts<Value>(queries: Queries, prefix: string): Promise<ReadonlyMap<string, Value>> {
  const rows = await queries.query<{ key: string; value: string }>(LIST_FACTS, [prefix]);
  return new Map(rows.map(({ key, value }) => [key.slice(prefix.length), JSON.parse(value) as Value]));
}

/** Takes the value and the database's clock, and returns the next value and a result. The function may run again after a deadlock. */
type Change<Value, Result> = (value: Value | null, now: number) => readonly [next: Value | null, result: Result];

/** Changes a fact under a lock. */
export function changeFact<Value, Result>(
  database: Database,
  key: string,
  change: Change<Value, Result>,
): Promise<Result> {
  return database.transaction((queries) => changeFactIn(queries, key, change));
}

/** As `changeFact`, in the caller's transaction. */
export async function changeFactIn<Value, Result>(
  queries: Queries,
  key: string,
  change: Change<Value, Result>,
): Promise<Result> {
  const { value, now } = onlyRow(await queries.query<FactRow & { value: string }>(LOCK_FACT, [key]));
  const [next, result] = change(JSON.parse(value) as Value | null, now);
  const text = JSON.stringify(next);
  if (text !== value) await queries.query(WRITE_FACT, [key, text]);
  return result;
}
