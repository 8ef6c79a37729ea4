import type { Database, SqlValue, Queries } from '../../../src/database/database.ts';
import { statementLabel } from '../../../src/database/statement-failure.ts';

/** The statements of a ledger: each text once, with its longest parameters. */
export type AskedStatements = Map<string, readonly SqlValue[]>;

/** The ledger's own statements begin with their name; VACUUM has no plan. */
const HAS_PLAN = /^\/\*[^*]*\*\/\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b/u;

/** Wraps the database so that `asked` collects each statement of the ledger that has a plan. */
export function askedDatabase(database: Database, asked: AskedStatements): Database {
  return notingDatabase(database, (text, params) => {
    if (HAS_PLAN.test(text) && lengthOf(params) >= lengthOf(asked.get(text))) asked.set(text, params);
  });
}

function lengthOf(params: readonly SqlValue[] = []): number {
  return params.reduce<number>((sum, value) => sum + String(value).length, 0);
}

/** Tables with one or more rows for each invoice that the ledger ever had. */
const LARGE_TABLES = ['invoice', 'invoice_content', 'invoice_body', 'document', 'batch_invoice', 'delivery'];

/**
 * Makes the planner believe that a batch has a large part of all invoices, as it may conclude from a sample of few
 * batches. A join that reads all invoices then costs less than one that looks up the invoices of the batch.
 */
const SEEM_LARGE = `UPDATE pg_class SET relpages = greatest(1, pg_relation_size(oid) / 8192),
  reltuples = CASE relname WHEN 'batch_invoice' THEN 10000 * $2::bigint ELSE $2::bigint END
WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1::text[])`;
/** Makes the planner forget its samples of values. */
const FORGET_SAMPLES = `DELETE FROM pg_statistic WHERE starelid IN (
  SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relname = ANY($1::text[]))`;
/** Rows of each large table but `batch_invoice`. The best plan depends on them; it may read a smaller table whole. */
const SIZES = [1_000_000, 10_000_000, 100_000_000];

/** Omits partial indexes: they hold few rows, so a plan may read them whole. */
const FIRST_COLUMNS = `SELECT c.relname AS index, a.attname AS column
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
  WHERE c.relnamespace = current_schema()::regnamespace AND i.indpred IS NULL`;

/** One step of `EXPLAIN (FORMAT JSON)`. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

interface ExplainRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: PlanNode }[];
}

/** Thrown to roll the planner's false statistics back. */
class Undone extends Error {}

/** Returns "LABEL reads TABLE" for each statement whose plan reads all rows of a large table. */
export async function wholeReads(database: Database, asked: AskedStatements): Promise<readonly string[]> {
  const found: string[] = [];
  await database
    .transaction(async (queries) => {
      const large = `{${LARGE_TABLES.join(',')}}`;
      const columns = await queries.query<{ index: string; column: string }>(FIRST_COLUMNS);
      const firsts = new Map(columns.map(({ index, column }) => [index, column]));
      await queries.query(FORGET_SAMPLES, [large]);
      for (const size of SIZES) {
        await queries.query(SEEM_LARGE, [large, size]);
        for (const [text, params] of asked) {
          const [row] = await queries.query<ExplainRow>(`EXPLAIN (FORMAT JSON) ${text}`, params);
          const tables = row?.['QUERY PLAN'].flatMap(({ Plan }) => tablesReadWhole(Plan, firsts)) ?? [];
          found.push(...tables.map((table) => `${statementLabel(text)} reads ${table}`));
        }
      }
      throw new Undone();
    })
    .catch((error: unknown) => {
      if (!(error instanceof Undone)) throw error;
    });
  return [...new Set(found)].toSorted();
}

function tablesReadWhole(node: PlanNode, firsts: ReadonlyMap<string, string>): readonly string[] {
  const below = (node.Plans ?? []).flatMap((one) => tablesReadWhole(one, firsts));
  const table = node['Relation Name'];
  const isWhole = node['Node Type'] === 'Seq Scan' || isEnteredNowhere(node, firsts);
  return table !== undefined && LARGE_TABLES.includes(table) && isWhole ? [...below, table] : below;
}

/** Tells whether a plan reads a whole index, because it has no value for the index's first column. */
function isEnteredNowhere(node: PlanNode, firsts: ReadonlyMap<string, string>): boolean {
  const first = firsts.get(node['Index Name'] ?? '');
  return first !== undefined && !new RegExp(String.raw`\b${first}\b(?! IS)`, 'u').test(node['Index Cond'] ?? '');
}

/** Called with each statement: before it runs, and when it has run. */
interface Watch {
  before?(text: string, params: readonly SqlValue[]): void;
  after?(text: string): Promise<void>;
}

/** Wraps the database so that it calls `note` for each statement before it runs, inside and outside transactions. */
export function notingDatabase(database: Database, note: Required<Watch>['before']): Database {
  const watch: Watch = { before: note };
  return { ...watchedTransactions(database, watch), ...watchedQueries(database, watch) };
}

function watchedTransactions(database: Database, watch: Watch): Database {
  return {
    ...database,
    transaction: (work) => database.transaction((queries) => work(watchedQueries(queries, watch))),
  };
}

function watchedQueries(queries: Queries, watch: Watch): Queries {
  return {
    async query(text, params = []) {
      watch.before?.(text, params);
      const rows = await queries.query(text, params);
      await watch.after?.(text);
      return rows as never;
    },
  };
}

/** A database that can pause one transaction after a statement. */
export function pausingDatabase(database: Database) {
  let pause: { readonly label: string; readonly reach: () => void; readonly over: Promise<void> } | null = null;
  const paused = watchedTransactions(database, {
    async after(text) {
      const now = pause;
      if (now === null || !text.includes(now.label)) return;
      pause = null;
      now.reach();
      await now.over;
    },
  });
  return {
    database: paused,
    /** Pauses the next transaction that runs this statement after it. `reached` resolves then; `go` ends the pause. */
    pauseAfter(statement: string) {
      let reach = (): void => undefined;
      let go = (): void => undefined;
      const reached = new Promise<void>((resolve) => (reach = resolve));
      const over = new Promise<void>((resolve) => (go = resolve));
      pause = { label: `/* ${statement} */`, reach: () => reach(), over };
      return { reached, go: () => go() };
    },
  };
}
