import type { FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
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

/** After the retention window a repeat could make a second document: then only an operator decides. */
export async function repeatUnknown(deps: ActivityDeps, { batchId, fencingToken }: Batch): Promise<void> {
  await deps.ledger.repeatUnknown(batchId, deps.latestNow() - deps.settings.retry.retentionMs, fencingToken);
}
