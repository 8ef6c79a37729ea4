import type { Reason } from '../../src/domain/invoice.ts';
import type { FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
import { OLDER_LEDGER } from '../../src/domain/retry-decision.ts';
import type { ActivityDeps } from '../deps.ts';

/** So many are named; a file has rarely had more than two names. */
const NAMED = 5;

/** Says where that report is: the file may have had another name then, and a newer report moves it aside. */
function notSentBefore(folders: readonly string[]): Reason {
  const named = folders.slice(0, NAMED).join(', ') + (folders.length > NAMED ? ', …' : '');
  return {
    code: OLDER_LEDGER,
    message: `The earlier report of this file says that this invoice was not sent, was refused, failed, was sent again with a new key, or was sent so long ago that the service may have forgotten its key, and the ledger does not know that report: it was restored from an older copy, or is another one. The invoice may have been issued or corrected since, or kept back on purpose: look into that report (its folder in the reports folder: ${named}; where a newer report stands there, in before-restore-… of that folder). If it was not issued and must go, retry it with the accepted risk of a duplicate.`,
  };
}

/**
 * In a restored ledger a file may be run again, its run go on from a copy of Temporal, or its batch be closed by reconciliation, although its
 * earlier run was cancelled, or stopped by Lote, and then corrected: what was not sent then has a key that the service has never seen, and what was sent
 * long ago has one that it may have forgotten. It is held, and nothing of it goes by itself, unless an operator has accepted the risk since.
 */
export async function holdUnsentBefore(
  { ledger, reports, now }: Pick<ActivityDeps, 'ledger' | 'reports' | 'now'>,
  batch: { readonly batchId: string; readonly fencingToken: FencingToken },
): Promise<void> {
  const { firstRows, sentAgain, writtenAt, folders } = await reports.rowsNotSent(batch.batchId);
  if (firstRows.length + sentAgain.length === 0) return;
  const hold = { firstRows, sentAgain, acceptedAfter: writtenAt, reason: notSentBefore(folders), now: now() };
  await ledger.holdDoubtful(batch, hold);
}
