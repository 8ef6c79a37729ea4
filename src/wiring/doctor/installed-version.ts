import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { SCHEMA_VERSION, schemaVersionOf } from '../../ledger/database/migrations/migrate.ts';
import { readInstallation } from '../../runtime/config/installation.ts';
import { VERSION } from '../../runtime/version.ts';
import { bundleDigest, findBundle } from '../worker/workflow-bundle.ts';
import { readOnly } from './read-only-ledger.ts';

const require = createRequire(import.meta.url);
const PATIENCE_MS = 5_000;

/** Which Lote this is, and which ledger it meets. */
export interface InstalledVersion {
  readonly version: string;
  /** Version of the ledger's schema that this Lote writes. */
  readonly schema: number;
  /** That of the configured ledger; null: `ledger` says why it is not known. */
  readonly ledgerSchema: number | null;
  /** A sentence of what that means. */
  readonly ledger: string;
  /** Digest of the workflow bundle, as it stands in the history of each run; null: not bundled yet. */
  readonly workflows: string | null;
  readonly node: string;
  readonly temporalSdk: string;
}

/** Reads what is installed, and the version of a ledger on PostgreSQL. It starts nothing and changes nothing. */
export async function installedVersion(env: NodeJS.ProcessEnv): Promise<InstalledVersion> {
  const bundle = await findBundle(env);
  const { version: temporalSdk } = require('@temporalio/worker/package.json') as { version: string };
  return {
    version: VERSION,
    schema: SCHEMA_VERSION,
    ...(await ledgerVersion(env)),
    workflows: bundle === null ? null : await bundleDigest(bundle),
    node: process.version,
    temporalSdk,
  };
}

type LedgerVersion = Pick<InstalledVersion, 'ledger' | 'ledgerSchema'>;

async function ledgerVersion(env: NodeJS.ProcessEnv): Promise<LedgerVersion> {
  const late = sleep(PATIENCE_MS, null, { ref: false });
  const found = await Promise.race([readLedger(env).catch(() => null), late]);
  return found ?? { ledgerSchema: null, ledger: 'It cannot be read: lote doctor says why.' };
}

async function readLedger(env: NodeJS.ProcessEnv): Promise<LedgerVersion> {
  const { databaseUrl } = readInstallation(env).common;
  // To start its engine takes seconds, and its owner may be at work.
  if (databaseUrl === null) return { ledgerSchema: null, ledger: 'It is embedded: lote doctor reads it.' };
  const { openPostgresDatabase } = await import('../../ledger/database/postgres/open-postgres-database.ts');
  const database = readOnly(openPostgresDatabase({ connectionString: databaseUrl }));
  try {
    const version = await schemaVersionOf(database);
    return { ledgerSchema: version, ledger: meaningOf(version) };
  } finally {
    await database.close();
  }
}

function meaningOf(version: number | null): string {
  if (version === null) return 'The database holds no ledger yet; the first start of Lote makes it.';
  if (version === SCHEMA_VERSION) return 'It is up to date.';
  return version > SCHEMA_VERSION
    ? 'A newer Lote has been here: this one refuses it.'
    : `It lacks ${SCHEMA_VERSION - version} migrations: the first start of this Lote makes them.`;
}
