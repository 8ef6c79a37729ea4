import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { cacheDirectory } from '../../platform/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { MeasureStatement } from '../../domain/records/measures.ts';

export interface LedgerPlace {
  readonly databaseUrl: string | null;
  /** Folder of the embedded ledger; the caller holds the lock of its data directory. */
  readonly directory: string;
  /** If omitted, Lote measures nothing. */
  readonly measure?: MeasureStatement | undefined;
}

/** Opens PostgreSQL if DATABASE_URL is set, else the embedded ledger. Only the needed driver is loaded. */
export function openLedger({ databaseUrl, directory, measure }: LedgerPlace): Promise<Ledger> {
  return waitingFor('the ledger', async () => {
    if (databaseUrl !== null) {
      const { openPostgresLedger } = await import('../../ledger/open-postgres-ledger.ts');
      return openPostgresLedger({ connectionString: databaseUrl, measure });
    }
    const { openPgliteLedger } = await import('../../ledger/open-pglite-ledger.ts');
    return openPgliteLedger({ directory, templates: templates(), measure });
  });
}

/** Makes the template of new embedded ledgers unless this user has one, so that the first start need not wait for it. */
export async function makeLedgerTemplate(): Promise<void> {
  const { findTemplate } = await import('../../ledger/open-pglite-ledger.ts');
  await findTemplate(templates());
}

function templates(): string {
  return join(cacheDirectory(process.env), 'ledgers');
}

/** Two workers may differ by twice as much, a minute; Lote's retention window ends a minute before the service's. */
const TOLERANCE_MS = 30_000;

/**
 * One worker records when a key was first used, and another worker decides by its own clock whether the service still remembers it. With clocks an
 * hour apart, Lote could repeat a forgotten POST. A pause of this process between the two readings of its clock does not count as a difference.
 * @throws LoteError `interlock` when the clocks of this machine and of the ledger's database differ
 */
export async function requireClock(ledger: Pick<Ledger, 'clock'>): Promise<void> {
  const before = Date.now();
  const theirs = await ledger.clock();
  const [ahead, behind] = [before - theirs, theirs - Date.now()];
  const apart = Math.max(ahead, behind);
  if (apart <= TOLERANCE_MS) return;
  throw new LoteError(
    'interlock',
    `Working on the ledger: the clock of this machine and that of the ledger's database must agree to within ${TOLERANCE_MS / 1_000} s, because by them ` +
      `Lote decides how old keys and batches are; found the one of this machine ${Math.round(apart / 1_000)} s ${ahead > behind ? 'ahead' : 'behind'}. ` +
      'Nothing was sent or removed. Set both (NTP).',
  );
}
