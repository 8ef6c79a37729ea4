import type { Reason } from '../../src/domain/invoice.ts';
import type { BatchRecord, FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
import { OLDER_LEDGER } from '../../src/domain/retry-decision.ts';
import type { ActivityDeps } from '../deps.ts';

interface Batch {
  readonly batchId: string;
  readonly fencingToken: FencingToken;
}

/**
 * What an earlier run of the file left behind goes again: held ones for the first time, unknown ones with the same key
 * and bytes.
 */
export async function letGo(deps: ActivityDeps, batch: Batch): Promise<void> {
  await deps.ledger.releaseHeld(batch.batchId, deps.now(), batch.fencingToken);
  await repeatUnknown(deps, batch);
}

const NOT_SENT_BEFORE: Reason = {
  code: OLDER_LEDGER,
  message:
    'The earlier report of this file says that this invoice was not sent, and the ledger does not know that report: it was restored from an older copy, or is another one. The invoice may have been corrected since, or kept back on purpose: look into that report (folder before-restore-…). If it must go, retry it with the accepted risk of a duplicate.',
};

/**
 * In a restored ledger a file may be run again whose earlier run was cancelled, or stopped by Lote, and then corrected: what was not sent then has a key that
 * the service has never seen.
 */
export async function holdUnsentBefore(
  { ledger, reports, now }: Pick<ActivityDeps, 'ledger' | 'reports' | 'now'>,
  batch: BatchRecord,
): Promise<void> {
  const firstRows = await reports.rowsNotSent(batch);
  if (firstRows.length > 0) await ledger.holdDoubtful(batch, { firstRows, reason: NOT_SENT_BEFORE, now: now() });
}

/** After the retention window a repeat could make a second document: then only an operator decides. */
export async function repeatUnknown(deps: ActivityDeps, { batchId, fencingToken }: Batch): Promise<void> {
  await deps.ledger.repeatUnknown(batchId, deps.now() - deps.settings.retry.retentionMs, fencingToken);
}
