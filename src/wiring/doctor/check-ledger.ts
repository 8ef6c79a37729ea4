import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../runtime/config/config.ts';
import { currentOwner } from '../../runtime/data-dir/directory-lock.ts';
import type { Database } from '../../ledger/database/database.ts';
import { SCHEMA_VERSION, schemaVersionOf } from '../../ledger/database/migrations/migrate.ts';
import { StatementFailure } from '../../ledger/database/statement-failure.ts';
import { LEDGER_ID } from '../../ledger/database/ledger-id.ts';
import { errorText, fine, trouble, unknown, type Check } from './check.ts';
import { clockCheck } from './clock-check.ts';
import { readOnly, readOnlyLedger, type ReadOnlyLedger } from './read-only-ledger.ts';

/** Above this share the next process may find none. */
const MOST_CONNECTIONS = 0.9;
const BYTES_PER_MB = 1_048_576;

/** What was found of the ledger; `ledger` is null when it cannot be read. */
export interface LedgerChecks {
  readonly checks: readonly Check[];
  readonly ledger: ReadOnlyLedger | null;
  close(): Promise<void>;
}

const NOTHING_TO_CLOSE = (): Promise<void> => Promise.resolve();

/** Reads the ledger, and changes nothing in it. An embedded one is read only while nobody owns it. */
export async function checkLedger(config: Config, now: () => number): Promise<LedgerChecks> {
  const { databaseUrl } = config;
  if (databaseUrl !== null) {
    const { openPostgresDatabase } = await import('../../ledger/database/postgres/open-postgres-database.ts');
    const database = readOnly(openPostgresDatabase({ connectionString: databaseUrl }));
    return { ...(await readLedger(database, now, postgresNumbers)), close: () => database.close() };
  }
  const directory = join(config.dataDir, 'ledger');
  if (!existsSync(directory)) {
    const check = unknown('ledger', `${directory} is not there yet; the first start of Lote makes it.`);
    return { checks: [check], ledger: null, close: NOTHING_TO_CLOSE };
  }
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    const cure = `Move it away, and restore a copy of the ledger there (docs/operations/backup.md), or set LOTE_DATA_DIR to the right folder.`;
    const check = trouble('ledger', `${directory} is no ledger: the file PG_VERSION is missing in it.`, cure);
    return { checks: [check], ledger: null, close: NOTHING_TO_CLOSE };
  }
  return embeddedLedger(config.dataDir, directory, now);
}

async function embeddedLedger(dataDir: string, directory: string, now: () => number): Promise<LedgerChecks> {
  const { acquireDirectoryLock } = await import('../../runtime/data-dir/directory-lock.ts');
  const lock = currentOwner(dataDir) === null ? await acquireDirectoryLock(dataDir) : null;
  if (lock === null) {
    const check = fine(
      'ledger',
      'Another process owns it, and works with it: the health page of its console shows it.',
    );
    return { checks: [check], ledger: null, close: NOTHING_TO_CLOSE };
  }
  try {
    const { openPgliteDatabase } = await import('../../ledger/database/pglite/open-pglite-database.ts');
    const database = readOnly(await openPgliteDatabase(directory));
    const close = async (): Promise<void> => {
      await database.close();
      await lock.release();
    };
    return { ...(await readLedger(database, now, embeddedNumbers)), close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function readLedger(
  database: Database,
  now: () => number,
  numbers: (database: Database, now: () => number) => Promise<readonly Check[]>,
): Promise<Omit<LedgerChecks, 'close'>> {
  try {
    const measured = await numbers(database, now);
    const schema = await schemaCheck(database);
    if (schema.state === 'trouble') return { checks: [schema, ...measured], ledger: null };
    const [meta] = schema.state === 'ok' ? await database.query<{ ledger_id: string }>(LEDGER_ID) : [];
    const ledger = meta === undefined ? null : readOnlyLedger(database, meta.ledger_id);
    return { checks: [fine('ledger', 'answers'), schema, ...measured], ledger };
  } catch (error) {
    return { checks: [connectionTrouble(error)], ledger: null };
  }
}

async function schemaCheck(database: Database): Promise<Check> {
  const name = 'ledger schema';
  const version = await schemaVersionOf(database);
  if (version === null) return unknown(name, 'The database holds no ledger yet; the first start of Lote makes it.');
  if (version === SCHEMA_VERSION) return fine(name, `version ${version}`);
  const found = `The ledger has schema version ${version}, this Lote knows version ${SCHEMA_VERSION}`;
  return version > SCHEMA_VERSION
    ? trouble(name, `${found}: a newer Lote has been here.`, 'Install the newer Lote, which wrote it, everywhere.')
    : trouble(
        name,
        `${found}: missing migrations: ${SCHEMA_VERSION - version}.`,
        'Copy the ledger (docs/operations/backup.md), then start this Lote: its first start brings the schema up to date. Older processes may go on until they are restarted.',
      );
}

async function postgresNumbers(database: Database, now: () => number): Promise<readonly Check[]> {
  const before = now();
  const [row] = await database.query<{ bytes: number; used: number; most: number; at: number }>(
    `SELECT pg_database_size(current_database()) AS bytes, current_setting('max_connections')::int AS most,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`,
  );
  if (row === undefined) return [];
  const { bytes, used, most, at } = row;
  const found = `${used} of ${most} connections of the server are in use`;
  return [
    fine('ledger size', sizeText(bytes)),
    used < most * MOST_CONNECTIONS
      ? fine('ledger connections', found)
      : trouble('ledger connections', `${found}.`, 'Raise max_connections, or stop what else uses the server.'),
    clockCheck('ledger clock', { theirs: at, ours: (before + now()) / 2, whose: "the database server's" }),
  ];
}

async function embeddedNumbers(database: Database): Promise<readonly Check[]> {
  const [row] = await database.query<{ bytes: number }>('SELECT pg_database_size(current_database()) AS bytes');
  return [fine('ledger size', sizeText(row?.bytes ?? 0))];
}

function sizeText(bytes: number): string {
  return `${Math.ceil(bytes / BYTES_PER_MB)} MB`;
}

/** What to do about a database that lets nobody in, by SQLSTATE or by the code of the network. */
const CURES: readonly (readonly [pattern: RegExp, found: string, cure: string])[] = [
  [
    /28P01|28000/,
    'The database server refuses user or password',
    'Correct user and password in DATABASE_URL (or its file).',
  ],
  [/3D000/, 'The server has no database of this name', 'Create it, or correct the name at the end of DATABASE_URL.'],
  [
    /ENOTFOUND|EAI_AGAIN/,
    'The name of the database server is unknown',
    'Correct the host in DATABASE_URL, or the DNS.',
  ],
  [
    /ECONNREFUSED/,
    'Nothing listens at the address of DATABASE_URL',
    'Correct host and port in DATABASE_URL, or start the server.',
  ],
  [/25006/, 'The database server takes no writes', 'Point DATABASE_URL at the primary server.'],
  [/53300/, 'The server has no connection left', 'Raise max_connections, or stop what else uses the server.'],
  [/42501/, 'The user may not read the ledger', 'Grant the user of DATABASE_URL the tables of the ledger.'],
];

function connectionTrouble(error: unknown): Check {
  const text = error instanceof StatementFailure ? error.sqlState : errorText(error);
  const [, found, cure] = CURES.find(([pattern]) => pattern.test(text)) ?? [];
  return found === undefined
    ? trouble('ledger', errorText(error), 'Check DATABASE_URL, and the log of the database server.')
    : trouble('ledger', `${found}.`, cure ?? '');
}
