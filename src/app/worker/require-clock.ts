import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';

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
