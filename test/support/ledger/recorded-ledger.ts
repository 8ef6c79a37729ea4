import { SCHEMA_VERSION } from '../../../src/ledger/database/migrations/migrate.ts';
import type { Database, Queries, SqlValue } from '../../../src/ledger/database/database.ts';
import { notingTransactions } from './noting-database.ts';

/** The ledger of a release: what made its tables, and every row. */
export interface RecordedLedger {
  readonly schemaVersion: number;
  /** Statements that made its tables in an empty schema, in order. */
  readonly schema: readonly (readonly [text: string, params: readonly SqlValue[]])[];
  /** By table. */
  readonly rows: Readonly<Record<string, readonly object[]>>;
}

const CHANGES_SCHEMA = /^\s*(?:CREATE|ALTER|DROP|INSERT|UPDATE|DELETE)\b/iu;
const TABLES = `SELECT table_name AS name FROM information_schema.tables
  WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`;
const IDENTITIES = `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
  WHERE table_schema = current_schema() AND is_identity = 'YES'`;

/** The same database; `statements` gets everything that changes it inside transactions, which is how a schema is made. */
export function recordingDatabase(database: Database, statements: [string, readonly SqlValue[]][]): Database {
  return notingTransactions(database, (text, params) => {
    if (CHANGES_SCHEMA.test(text)) statements.push([text, params]);
  });
}

/** Everything in the tables of a ledger. */
export async function recordLedger(database: Queries, schema: RecordedLedger['schema']): Promise<RecordedLedger> {
  const rows: Record<string, readonly object[]> = {};
  for (const { name } of await database.query<{ name: string }>(TABLES)) {
    const found = await database.query<{ row: object }>(`SELECT to_jsonb(t) AS row FROM "${name}" t`);
    if (found.length > 0) rows[name] = found.map(({ row }) => row);
  }
  return { schemaVersion: SCHEMA_VERSION, schema, rows };
}

/** Makes the ledger as it was, in an empty schema. */
export async function loadLedger(database: Database, { schema, rows }: RecordedLedger): Promise<void> {
  await database.transaction(async (queries) => {
    for (const [text, params] of schema) await queries.query(text, params);
    for (const { name } of await queries.query<{ name: string }>(TABLES)) await queries.query(`DELETE FROM "${name}"`);
    for (const [name, content] of Object.entries(rows))
      await queries.query(
        `INSERT INTO "${name}" OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_recordset(NULL::"${name}", $1::jsonb)`,
        [JSON.stringify(content)],
      );
    for (const { table, column } of await queries.query<{ table: string; column: string }>(IDENTITIES))
      await queries.query(
        `SELECT setval(pg_get_serial_sequence($1, $2), 1 + coalesce((SELECT max("${column}") FROM "${table}"), 0))`,
        [table, column],
      );
  });
}
