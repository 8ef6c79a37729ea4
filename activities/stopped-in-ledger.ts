import type { BatchLedger } from '../src/domain/ports/ledger/batch-ledger.ts';
import type { SendingControlLedger } from '../src/domain/ports/ledger/sending-control-ledger.ts';

type StopLedger = Pick<SendingControlLedger, 'sendingBatches'> & Pick<BatchLedger, 'findBatch'>;

/**
 * Whether an operator has paused or cancelled a batch, as the ledger has it. A run may not know: Temporal was restored to a time before the order. Ask before
 * the batch is closed.
 */
export async function isStoppedInLedger(ledger: StopLedger, batchId: string): Promise<boolean> {
  const state = (await ledger.findBatch(batchId))?.state;
  // Its order to stop ends with the claim of the run that had it, the state does not.
  if (state === 'paused' || state === 'cancelled') return true;
  // One that is read or has finished sends nothing either, and nobody has stopped it.
  return state === 'running' && (await ledger.sendingBatches([batchId])).length === 0;
}
