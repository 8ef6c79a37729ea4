import type { Client } from '@temporalio/client';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import type { ReconciliationResult } from '../../contract/messages.ts';
import type { ReconcileAnswer } from '../../console/console-options.ts';
import type { Config } from '../../runtime/config/config.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { batchFailure } from '../temporal/batch-failure.ts';
import { namedInput } from '../temporal/named-input.ts';
import { reconciliationId } from '../schedules/reconciliation-schedule.ts';

/** Everything that was left open, due or not; joins one that runs already. */
export async function reconcileNow(
  client: Client,
  place: Pick<Config, 'application' | 'taskQueue' | 'isOneOfSeveral'>,
  ledgerId: string,
): Promise<ReconciliationResult> {
  const handle = await client.workflow.start<typeof reconciliation>('reconciliation', {
    workflowId: `${reconciliationId(place)}-now`,
    taskQueue: place.taskQueue,
    args: [{ ledgerId, all: true, ...namedInput(place) }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return handle.result();
}

/** A page waits this long; what takes longer goes on without it. */
const PAGE_PATIENCE_MS = 8_000;

/** The same as `lote reconcile`, for a page. */
export function createConsoleReconcile(
  client: Client,
  place: Pick<Config, 'application' | 'taskQueue' | 'isOneOfSeveral'>,
  ledgerId: string,
): () => Promise<ReconcileAnswer> {
  return async () => {
    try {
      const ended = await answerWithin(PAGE_PATIENCE_MS, reconcileNow(client, place, ledgerId));
      return ended === null ? { how: 'started' } : { how: 'ended', ...ended };
    } catch (error) {
      throw batchFailure(error);
    }
  };
}
