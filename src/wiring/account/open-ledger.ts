import { join } from 'node:path';
import { idempotencyKeyOf } from '../../domain/fingerprint.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { MeasureStatement } from '../../domain/ports/measures.ts';
import { cacheDirectory } from '../../file-system/cache-directory.ts';

export interface LedgerPlace {
  readonly databaseUrl: string | null;
  /** Of the embedded ledger; the caller holds the lock of its data directory. */
  readonly directory: string;
  /** Left out: nobody measures. */
  readonly measure?: MeasureStatement | undefined;
}

/** PostgreSQL when DATABASE_URL is set, else the embedded ledger. Only the driver that is needed is loaded. */
export async function openLedger({ databaseUrl, directory, measure }: LedgerPlace): Promise<Ledger> {
  if (databaseUrl !== null) {
    const { openPostgresLedger } = await import('../../ledger/database/postgres/open-postgres-ledger.ts');
    return openPostgresLedger({ connectionString: databaseUrl, keyOf: idempotencyKeyOf, measure });
  }
  const { openPgliteLedger } = await import('../../ledger/database/pglite/open-pglite-ledger.ts');
  return openPgliteLedger({ directory, templates: templates(), keyOf: idempotencyKeyOf, measure });
}

/** Makes what a new embedded ledger is copied from, unless this user has it: the first start then waits for nothing. */
export async function makeLedgerTemplate(): Promise<void> {
  const { findTemplate } = await import('../../ledger/database/pglite/ledger-template.ts');
  await findTemplate(templates());
}

function templates(): string {
  return join(cacheDirectory(process.env), 'ledgers');
}
