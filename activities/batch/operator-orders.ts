import type { BatchWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import type { BatchWriter, SendingControl, NotedAction } from '../../src/domain/records/batch-record.ts';
import { LoteError } from '../../src/domain/errors.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';

/**
 * What an earlier run of the file left behind goes again: held ones for the first time, unknown ones with the same key
 * and bytes.
 */
export async function letGo(deps: ActivityDeps, batch: BatchWriter): Promise<void> {
  await deps.ledger.releaseHeld(batch.batchId, deps.now(), batch.fencingToken);
  await repeatUnknown(deps, batch);
}

/** After the retention window a repeat could make a second document: then only an operator decides. */
export async function repeatUnknown(deps: ActivityDeps, { batchId, fencingToken }: BatchWriter): Promise<void> {
  await deps.ledger.repeatUnknown(batchId, deps.latestNow() - deps.settings.retry.retentionMs, fencingToken);
}

/**
 * Writes a pause, a resume or a cancellation where every process that sends reads it. False: this run does not hold the
 * batch any more.
 */
export async function recordControl(
  { ledger }: ActivityDeps,
  input: SendingControl & Pick<BatchWork, 'ledgerId'>,
): Promise<boolean> {
  return ledger.recordControl(input);
}

export interface ConfirmTotalInput extends BatchWork {
  /** What operators did, the confirmation among it. */
  readonly actions: readonly NotedAction[];
}

/** An operator has confirmed the total of a held batch: its invoices may go. Returns the batch as it is to be sent now. */
export async function confirmTotal(deps: ActivityDeps, input: ConfirmTotalInput): Promise<RunningBatch> {
  const { batchId, fencingToken, actions } = input;
  await deps.ledger.confirmTotal({ batchId, fencingToken }, { now: deps.now(), actions });
  await letGo(deps, { batchId, fencingToken });
  const batch = await deps.ledger.findBatch(batchId);
  if (batch === null)
    throw new LoteError(
      'batch-not-found',
      `Confirming a total: the ledger no longer has batch "${batchId}". Nothing was sent. Drop its file again.`,
    );
  await deps.ledger.recordStop(batch, null);
  return runningBatch(deps, batch);
}
