import { join } from 'node:path';
import { idempotencyKeyOf } from '../../domain/fingerprint.ts';
import type { Ledger } from '../../domain/ports/ledger.ts';
import { cacheDirectory } from '../../file-system/cache-directory.ts';
import { openPgliteLedger } from '../../ledger/database/pglite/open-pglite-ledger.ts';
import { openPostgresLedger } from '../../ledger/database/postgres/open-postgres-ledger.ts';

export interface LedgerPlace {
  readonly databaseUrl: string | null;
  /** Of the embedded ledger; the caller holds the lock of its data directory. */
  readonly directory: string;
}

/** PostgreSQL when DATABASE_URL is set, else the embedded ledger. */
export function openLedger({ databaseUrl, directory }: LedgerPlace): Promise<Ledger> {
  if (databaseUrl !== null) return openPostgresLedger({ connectionString: databaseUrl, keyOf: idempotencyKeyOf });
  const templates = join(cacheDirectory(process.env), 'ledgers');
  return openPgliteLedger({ directory, templates, keyOf: idempotencyKeyOf });
}
