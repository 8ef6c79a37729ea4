import { createHash, randomUUID } from 'node:crypto';
import { LoteError } from '../domain/errors.ts';
import type { Database, Queries } from '../database/database.ts';
import { changeFact, findFact } from './facts.ts';
import { SCHEMA } from './schema.ts';
import { StatementFailure } from '../database/statement-failure.ts';

/** The statements of one version of the schema. */
export type Migration = readonly string[];

/**
 * The migrations in order. A released one never changes. A new one follows it and only adds columns with a default or
 * that may be null, so that processes of the previous version continue during an upgrade.
 */
const MIGRATIONS: readonly Migration[] = [SCHEMA];

/** Lote 0.1.0 wrote the schema versions up to this one, in a form that this Lote does not read. */
export const LAST_VERSION_OF_0_1_0 = 30;

/** The version of the schema that this Lote writes. */
export const SCHEMA_VERSION = LAST_VERSION_OF_0_1_0 + MIGRATIONS.length;

const FINGERPRINT_LENGTH = 16;

/** Returns a hexadecimal digest of the schema. */
export function schemaFingerprint(migrations: readonly Migration[] = MIGRATIONS): string {
  return createHash('sha256').update(migrations.flat().join('\n')).digest('hex').slice(0, FINGERPRINT_LENGTH);
}

/** Explains why this Lote cannot use a ledger of 0.1.0, and what to do about it. */
export function ledgerOf010(version: number): { readonly found: string; readonly cure: string } {
  return {
    found: `The ledger is of Lote 0.1.0 (schema version ${version}), which this Lote does not read.`,
    cure:
      'Finish its batches with Lote 0.1.0 and keep it, then give this Lote an empty database or data directory. ' +
      'Do not drop files again that 0.1.0 has sent: a new ledger does not know their invoices.',
  };
}

/** SQLSTATE of a missing table: the database contains no ledger. */
const UNDEFINED_TABLE = '42P01';

/** Returns the schema version of a ledger, or null if the database contains none. Reads only. */
export async function schemaVersionOf(queries: Queries): Promise<number | null> {
  const rows = await queries
    .query<{ version: number | null }>('SELECT max(version) AS version FROM ledger_migration')
    .catch((error: unknown) => {
      if (error instanceof StatementFailure && error.sqlState === UNDEFINED_TABLE) return null;
      throw error;
    });
  return rows === null ? null : (rows[0]?.version ?? 0);
}

/** "lote" as a number. The lock makes the ledgers of a database migrate one at a time, whichever process opens them first. */
const MIGRATION_LOCK = 0x6c6f7465;

/** While a migration waits for a table, all later statements on the table wait too, including those of receivers and workers. */
const LONGEST_LOCK_WAIT = '10s';

/**
 * Brings the schema up to date, completely or not at all.
 * @throws LoteError `ledger-conflict` when a newer Lote or Lote 0.1.0 wrote it; `ledger-unavailable` when another transaction holds a table for too long
 */
export async function migrate(
  database: Database,
  schema: string | null,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    if (schema !== null) await queries.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await queries.query('CREATE TABLE IF NOT EXISTS ledger_migration (version integer PRIMARY KEY)');
    const [row] = await queries.query<{ version: number | null }>(
      'SELECT max(version) AS version FROM ledger_migration',
    );
    const found = row?.version ?? null;
    if (found !== null && found <= LAST_VERSION_OF_0_1_0)
      throw new LoteError('ledger-conflict', Object.values(ledgerOf010(found)).join(' '));
    const version = found ?? LAST_VERSION_OF_0_1_0;
    const newest = LAST_VERSION_OF_0_1_0 + migrations.length;
    if (version > newest) {
      throw new LoteError(
        'ledger-conflict',
        `Opening the ledger: this Lote knows its schema up to version ${newest}, found version ${version}; use the newer Lote that wrote it`,
      );
    }
    if (version < newest) await runMissing(queries, version, migrations);
  });
}

async function runMissing(queries: Queries, version: number, migrations: readonly Migration[]): Promise<void> {
  await queries.query(`SET LOCAL lock_timeout = '${LONGEST_LOCK_WAIT}'`);
  const done = version - LAST_VERSION_OF_0_1_0;
  for (const [index, statements] of migrations.slice(done).entries()) {
    for (const statement of statements) await queries.query(statement);
    await queries.query('INSERT INTO ledger_migration (version) VALUES ($1)', [version + index + 1]);
  }
}

const LEDGER_ID = 'ledger-id';

/** Returns the id of the ledger, or null if its fact is missing. Reads only. */
export async function findLedgerId(queries: Queries): Promise<string | null> {
  return (await findFact<string>(queries, LEDGER_ID)).value;
}

/** Returns the id of the ledger, which the first opening creates. @throws LoteError `ledger-conflict` when its fact is missing. */
export async function ledgerId(database: Database): Promise<string> {
  const value = await findLedgerId(database);
  if (value === null)
    throw new LoteError(
      'ledger-conflict',
      'Opening the ledger: its id is missing, so the database is not one of Lote. Correct DATABASE_URL, or restore the ledger (docs/deployment.md#restore-the-ledger)',
    );
  if (value !== '') return value;
  return changeFact<string, string>(database, LEDGER_ID, (known) => {
    const id = known || `lgr_${randomUUID().replaceAll('-', '')}`;
    return [id, id];
  });
}
