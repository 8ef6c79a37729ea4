import { join } from 'node:path';
import { LoteError } from '../../domain/errors.ts';
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

/** Two workers may be apart by twice as much: a minute, by which a retention window ends before the service's own. */
const TOLERANCE_MS = 30_000;

/**
 * One worker writes down when a key was first used, and another one decides by its own clock whether the service still remembers that key. Where clocks
 * differ by an hour, a POST could be repeated that the service has forgotten. A process that stood still meanwhile proves nothing against its clock.
 * @throws LoteError `interlock` when the clock of this machine is not that of the ledger's database
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
