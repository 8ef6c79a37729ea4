import { join } from 'node:path';
import { waitingFor } from '../../platform/waiting-for.ts';
import { putAside, type Notify, cacheDirectory } from '../../platform/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { MeasureStatement } from '../../domain/records/measures.ts';

export interface LedgerPlace {
  readonly databaseUrl: string | null;
  /** Of the embedded ledger; the caller holds the lock of its data directory. */
  readonly directory: string;
  /** Told when a damaged template of a new embedded ledger was put aside. Left out: it is removed. */
  readonly notify?: Notify | undefined;
  /** Left out: nothing is measured. */
  readonly measure?: MeasureStatement | undefined;
}

/** PostgreSQL when DATABASE_URL is set, else the embedded ledger. Only the driver that is needed is loaded. */
export function openLedger(place: LedgerPlace): Promise<Ledger> {
  return waitingFor('the ledger', () => openAt(place));
}

async function openAt({ databaseUrl, directory, measure, notify }: LedgerPlace): Promise<Ledger> {
  if (databaseUrl !== null) {
    const { openPostgresLedger } = await import('../../ledger/database/postgres/open-postgres-ledger.ts');
    return openPostgresLedger({ connectionString: databaseUrl, measure });
  }
  const { openPgliteLedger } = await import('../../ledger/database/pglite/open-pglite-ledger.ts');
  return openPgliteLedger({
    ...{ directory, templates: templates(), measure },
    putAside: notify && ((path) => putAside(path, notify)),
  });
}

/** Makes what a new embedded ledger is copied from, unless this user has it: the first start then waits for nothing. */
export async function makeLedgerTemplate(): Promise<void> {
  const { findTemplate } = await import('../../ledger/database/pglite/open-pglite-ledger.ts');
  await findTemplate(templates());
}

function templates(): string {
  return join(cacheDirectory(process.env), 'ledgers');
}
