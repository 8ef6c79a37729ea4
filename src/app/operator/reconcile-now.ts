import type { Client, WorkflowHandle } from '@temporalio/client';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import type { ReconcileAnswer } from '../../console/console-options.ts';
import type { Config } from '../config/config.ts';
import { answeredCall, answerWithin, batchFailure } from '../temporal/calls.ts';
import { reconciliationId } from '../schedules/reconciliation-schedule.ts';

type ReconciliationPlace = Pick<Config, 'application' | 'taskQueue'>;

/** Everything that was left open, due or not; joins one that runs already. */
export async function startReconciliation(
  client: Client,
  place: ReconciliationPlace,
  ledgerId: string,
): Promise<WorkflowHandle<typeof reconciliation>> {
  return client.workflow.start<typeof reconciliation>('reconciliation', {
    workflowId: `${reconciliationId(place)}-now`,
    taskQueue: place.taskQueue,
    args: [{ ledgerId, all: true }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}

/** A page waits this long; what takes longer goes on without it. */
const PAGE_PATIENCE_MS = 8_000;

/** The same as `lote reconcile`, for a page. `patienceMs`: see `answeredCall`. */
export function createConsoleReconcile(
  client: Client,
  place: ReconciliationPlace,
  ledgerId: string,
  patienceMs?: number,
): () => Promise<ReconcileAnswer> {
  return async () => {
    const start = (): ReturnType<typeof startReconciliation> => startReconciliation(client, place, ledgerId);
    const run = await answeredCall(client, 'Reconciling', start, patienceMs);
    try {
      const ended = await answerWithin(PAGE_PATIENCE_MS, run.result());
      return ended === null ? { how: 'started' } : { how: 'ended', ...ended };
    } catch (error) {
      throw batchFailure(error);
    }
  };
}
