import { LoteError } from '../../src/domain/errors.ts';
import type { NotedAction } from '../../src/domain/ports/ledger/operating-ledger.ts';
import type { ActivityDeps } from '../deps.ts';
import { letGo } from './let-go.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';

export interface ConfirmTotalInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
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
  return runningBatch(deps, batch);
}
