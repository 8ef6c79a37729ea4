import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../app/config/config.ts';
import { currentOwner } from '../../app/data-dir/directory-lock.ts';
import type { Database } from '../../database/database.ts';
import {
  LAST_VERSION_OF_0_1_0,
  ledgerOf010,
  SCHEMA_VERSION,
  schemaVersionOf,
  findLedgerId,
} from '../../ledger/migrate.ts';
import { StatementFailure } from '../../database/statement-failure.ts';
import { createSharedFolders } from '../../ledger/operations/shared-folders.ts';
import { createSendLog } from '../../ledger/sending/lost-sends.ts';
import { createServiceUse } from '../../ledger/sending/service-use.ts';
import { createDeliveries } from '../../ledger/webhooks/deliveries.ts';
import type { ServiceProfile } from '../../service/profile/profile.ts';
import { clockCheck, errorText, fine, trouble, unknown, type Check } from './check.ts';

const BYTES_PER_MB = 1_048_576;

/** The input of the checks. */
export interface Examination {
  readonly config: Config;
  readonly profile: ServiceProfile;
  /** Null if the ledger cannot be read. */
  readonly ledger: ReadOnlyLedger | null;
  /** The ledger's objection to the configured account; null if it has none. */
  readonly account: Promise<Check | null>;
  /** True if Lote works with this ledger in this process: Lote then asks the service by itself. */
  readonly isRunning: boolean;
  /** True if a receiver of this installation should run now. */
  readonly runs: boolean;
  /** The time limit of each check, in milliseconds. */
  readonly patienceMs: number;
  readonly now: () => number;
}

/** The checks of the ledger; `ledger` is null if it cannot be read. */
export interface LedgerChecks {
  readonly checks: readonly Check[];
  readonly ledger: ReadOnlyLedger | null;
  close(): Promise<void>;
}

function notRead(check: Check): LedgerChecks {
  return { checks: [check], ledger: null, close: () => Promise.resolve() };
}

/** Reads the ledger without changing it. Reads an embedded ledger only while no process owns it. */
export async function checkLedger(config: Config, now: () => number): Promise<LedgerChecks> {
  const { databaseUrl } = config;
  if (databaseUrl !== null) {
    const { openPostgresDatabase } = await import('../../database/open-postgres-database.ts');
    const database = readOnly(openPostgresDatabase({ connectionString: databaseUrl }));
    return { ...(await readLedger(database, now)), close: () => database.close() };
  }
  const directory = join(config.dataDir, 'ledger');
  if (!existsSync(directory))
    return notRead(unknown('ledger', `${directory} is not there yet; the first start of Lote makes it.`));
  if (!existsSync(join(directory, 'PG_VERSION'))) {
    const cure = `Move it away, and restore a copy of the ledger there (docs/deployment.md#restore-the-ledger), or set LOTE_DATA_DIR to the right folder.`;
    return notRead(trouble('ledger', `${directory} is no ledger: the file PG_VERSION is missing in it.`, cure));
  }
  return embeddedLedger(config.dataDir, directory, now);
}

async function embeddedLedger(dataDir: string, directory: string, now: () => number): Promise<LedgerChecks> {
  const { acquireDirectoryLock } = await import('../../app/data-dir/directory-lock.ts');
  const lock = currentOwner(dataDir) === null ? await acquireDirectoryLock(dataDir) : null;
  if (lock === null)
    return notRead(
      fine('ledger', 'Another process owns it, and works with it: the health page of its console shows it.'),
    );
  try {
    const { openPgliteDatabase } = await import('../../database/open-pglite-database.ts');
    const database = readOnly(await openPgliteDatabase(directory));
    const close = async (): Promise<void> => {
      await database.close();
      await lock.release();
    };
    return { ...(await readLedger(database, now)), close };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function readLedger(database: Database, now: () => number): Promise<Omit<LedgerChecks, 'close'>> {
  try {
    const measured = await sizeAndClock(database, now);
    const schema = await schemaCheck(database);
    if (schema.state === 'trouble') return { checks: [schema, ...measured], ledger: null };
    const id = schema.state === 'ok' ? await findLedgerId(database) : null;
    const ledger = id === null ? null : readOnlyLedger(database, id);
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
  if (version <= LAST_VERSION_OF_0_1_0) {
    const { found, cure } = ledgerOf010(version);
    return trouble(name, found, cure);
  }
  const found = `The ledger has schema version ${version}, this Lote knows version ${SCHEMA_VERSION}`;
  return version > SCHEMA_VERSION
    ? trouble(name, `${found}: a newer Lote has been here.`, 'Install the newer Lote, which wrote it, everywhere.')
    : trouble(
        name,
        `${found}: missing migrations: ${SCHEMA_VERSION - version}.`,
        'Copy the ledger (docs/deployment.md#backup), then start this Lote: its first start brings the schema up to date. Older processes may go on until they are restarted.',
      );
}

async function sizeAndClock(database: Database, now: () => number): Promise<readonly Check[]> {
  const before = now();
  const [row] = await database.query<{ bytes: number; at: number }>(
    `SELECT pg_database_size(current_database()) AS bytes, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS at`,
  );
  if (row === undefined) return [];
  const clocks = { theirs: row.at, ours: (before + now()) / 2, whose: "the database's" };
  return [fine('ledger size', `${Math.ceil(row.bytes / BYTES_PER_MB)} MB`), clockCheck('ledger clock', clocks)];
}

/** Finding and cure for a failing database server, by SQLSTATE or network error code. */
const CURES: readonly (readonly [codes: RegExp, found: string, cure: string])[] = [
  [/28P01|28000/, 'it refuses user or password', 'Correct user and password in DATABASE_URL (or its file).'],
  [/3D000/, 'it has no database of this name', 'Create it, or correct the name at the end of DATABASE_URL.'],
  [/ENOTFOUND|EAI_AGAIN/, 'its name is unknown', 'Correct the host in DATABASE_URL, or the DNS.'],
  [/ECONNREFUSED/, 'nothing listens there', 'Correct host and port in DATABASE_URL, or start the server.'],
  [/25006/, 'it takes no writes', 'Point DATABASE_URL at the primary server.'],
  [/53300/, 'it has no connection left', 'Raise max_connections, or stop what else uses the server.'],
  [/42501/, 'the user may not read the ledger', 'Grant the user of DATABASE_URL the tables of the ledger.'],
];

function connectionTrouble(error: unknown): Check {
  const text = error instanceof StatementFailure ? error.sqlState : errorText(error);
  const [, found, cure] = CURES.find(([codes]) => codes.test(text)) ?? [];
  return found === undefined || cure === undefined
    ? trouble('ledger', errorText(error), 'Check DATABASE_URL, and the log of the database server.')
    : trouble('ledger', `The database server: ${found}.`, cure);
}

function readOnly(database: Database): Database {
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (queries) => {
      await queries.query('SET TRANSACTION READ ONLY');
      return work(queries);
    });
  return {
    transaction,
    query: (text, params) => transaction((queries) => queries.query(text, params)),
    close: () => database.close(),
  };
}

/** Makes the doctor's view of a ledger, over a database that refuses writes and is not migrated. */
function readOnlyLedger(database: Database, id: string) {
  return {
    id,
    ...createServiceUse(database),
    ...createSharedFolders(database),
    ...createSendLog(database),
    deliveryTrouble: createDeliveries(database).deliveryTrouble,
  };
}

/** The doctor's read-only view of a ledger. */
export type ReadOnlyLedger = ReturnType<typeof readOnlyLedger>;
