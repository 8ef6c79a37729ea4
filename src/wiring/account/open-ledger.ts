import { join } from 'node:path';
import { idempotencyKeyOf } from '../../domain/fingerprint.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import { cacheDirectory } from '../../file-system/cache-directory.ts';

export interface LedgerPlace {
  readonly databaseUrl: string | null;
  /** Of the embedded ledger; the caller holds the lock of its data directory. */
  readonly directory: string;
}

/** PostgreSQL when DATABASE_URL is set, else the embedded ledger. Only the driver that is needed is loaded. */
export async function openLedger({ databaseUrl, directory }: LedgerPlace): Promise<Ledger> {
  if (databaseUrl !== null) {
    const { openPostgresLedger } = await import('../../ledger/database/postgres/open-postgres-ledger.ts');
    return openPostgresLedger({ connectionString: databaseUrl, keyOf: idempotencyKeyOf });
  }
  const { openPgliteLedger } = await import('../../ledger/database/pglite/open-pglite-ledger.ts');
  const templates = join(cacheDirectory(process.env), 'ledgers');
  return openPgliteLedger({ directory, templates, keyOf: idempotencyKeyOf });
}
