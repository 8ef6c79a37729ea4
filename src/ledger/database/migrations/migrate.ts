import { createHash } from 'node:crypto';
import { LoteError } from '../../../domain/errors.ts';
import type { Database, Queries } from '../database.ts';
import { StatementFailure } from '../statement-failure.ts';
import { LEDGER_TABLES } from './0001-0009/0001-ledger.ts';
import { OPERATING_TABLES } from './0001-0009/0002-operating.ts';
import { SERVICE_USE_TABLES } from './0001-0009/0003-service-use.ts';
import { PURGE_COLUMNS } from './0001-0009/0004-purge.ts';
import { LOOKUP_INDEXES } from './0001-0009/0005-lookup.ts';
import { PROBE_TURN } from './0001-0009/0006-probe.ts';
import { SECOND_TRIES } from './0001-0009/0007-second-tries.ts';
import { SHARED_SERVICE } from './0001-0009/0009-shared-service.ts';
import { FENCING_TOKEN } from './0010-fencing.ts';
import { SHARED_FOLDERS } from './0016-shared-folders.ts';
import { PROFILE_MISFITS } from './0017-profile-misfits.ts';
import { SENDING_MARKS } from './0018-sending-marks.ts';
import { DELIVERY_APPLICATION } from './0019-delivery-application.ts';
import { TOTAL_CHECKS } from './0020-total-checks.ts';
import { INVOICE_TRIES } from './0021-invoice-tries.ts';
import { REPORT_FIGURES } from './0022-report-figures.ts';
import { FAILURE_INDEXES } from './0023-failure-indexes.ts';
import { ROOM_FOR_UPDATES } from './0024-room-for-updates.ts';
import { LEADING_ZEROS } from './0025-leading-zeros.ts';
import { NUMBERS_OF_SPREADSHEETS } from './0026-numbers-of-spreadsheets.ts';
import { UNKEYED_SPELLINGS } from './0027-unkeyed-spellings.ts';
import { READERS_OF_MERCHANTS } from './0028-readers-of-merchants.ts';
import { TEMPORAL_IDS } from './0029-temporal-ids.ts';
import { SENDING_CONTROL } from './0011-sending-control.ts';
import { LOOK_ALIKES } from './0014-look-alikes.ts';

/** A statement, or what SQL cannot do alone. */
type Step = string | ((queries: Queries) => Promise<void>);

const FINGERPRINT_LENGTH = 16;

/** In order; a number once released is never changed, only followed by the next. */
const MIGRATIONS: readonly (readonly Step[])[] = [
  LEDGER_TABLES,
  OPERATING_TABLES,
  SERVICE_USE_TABLES,
  PURGE_COLUMNS,
  LOOKUP_INDEXES,
  PROBE_TURN,
  SECOND_TRIES,
  SHARED_SERVICE,
  FENCING_TOKEN,
  SENDING_CONTROL,
  LOOK_ALIKES,
  SHARED_FOLDERS,
  PROFILE_MISFITS,
  SENDING_MARKS,
  DELIVERY_APPLICATION,
  TOTAL_CHECKS,
  INVOICE_TRIES,
  REPORT_FIGURES,
  FAILURE_INDEXES,
  ROOM_FOR_UPDATES,
  LEADING_ZEROS,
  NUMBERS_OF_SPREADSHEETS,
  UNKEYED_SPELLINGS,
  READERS_OF_MERCHANTS,
  TEMPORAL_IDS,
];

/** The version of the schema that this Lote writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Hexadecimal; another one for another schema. */
export function schemaFingerprint(): string {
  return createHash('sha256')
    .update(MIGRATIONS.flat().map(String).join('\n'))
    .digest('hex')
    .slice(0, FINGERPRINT_LENGTH);
}

/** No table, and so no version: a database in which no ledger was made. */
const UNDEFINED_TABLE = '42P01';

/** The version of the schema of a ledger; null: the database holds none. Reads only. */
export async function schemaVersionOf(queries: Queries): Promise<number | null> {
  const rows = await queries
    .query<{ version: number | null }>('SELECT max(version) AS version FROM ledger_migration')
    .catch((error: unknown) => {
      if (error instanceof StatementFailure && error.sqlState === UNDEFINED_TABLE) return null;
      throw error;
    });
  return rows === null ? null : (rows[0]?.version ?? 0);
}

/** "lote" as a number: one ledger of a database migrates at a time, whichever process opens it first. */
const MIGRATION_LOCK = 0x6c6f7465;

/** Everybody who comes later waits behind a migration that waits for a table: receivers and workers of the version before would stand still. */
const LONGEST_LOCK_WAIT = '10s';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Brings the schema up to date, all or nothing.
 * @throws LoteError `ledger-conflict` when a newer Lote has been here; `ledger-unavailable` when somebody holds a table for long
 */
export async function migrate(database: Database, schema: string | null): Promise<void> {
  await database.transaction(async (queries) => {
    await queries.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    if (schema !== null) await queries.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    await queries.query('CREATE TABLE IF NOT EXISTS ledger_migration (version integer PRIMARY KEY)');
    const [found] = await queries.query<{ version: number }>(
      'SELECT coalesce(max(version), 0) AS version FROM ledger_migration',
    );
    const version = found?.version ?? 0;
    if (version > MIGRATIONS.length) {
      throw new LoteError(
        'ledger-conflict',
        `Opening the ledger: this Lote knows its schema up to version ${MIGRATIONS.length}, found version ${version}; use the newer Lote that wrote it`,
      );
    }
    if (version < MIGRATIONS.length) await takeSteps(queries, version).catch(explainWait);
  });
}

async function takeSteps(queries: Queries, version: number): Promise<void> {
  await queries.query(`SET LOCAL lock_timeout = '${LONGEST_LOCK_WAIT}'`);
  for (const [index, steps] of MIGRATIONS.entries()) {
    if (index < version) continue;
    for (const step of steps) {
      if (typeof step === 'string') await queries.query(step);
      else await step(queries);
    }
    await queries.query('INSERT INTO ledger_migration (version) VALUES ($1)', [index + 1]);
  }
}

function explainWait(error: unknown): never {
  if (!(error instanceof StatementFailure) || error.sqlState !== LOCK_NOT_AVAILABLE) throw error;
  throw new LoteError(
    'ledger-unavailable',
    `Bringing the schema of the ledger up to date: it must have each table for itself for a moment, but another transaction, such as a backup (pg_dump), has one for longer than ${LONGEST_LOCK_WAIT}. ` +
      'Nothing was changed, and processes of the version before go on; start again when it has ended.',
  );
}
