import type { Client } from '@temporalio/client';
import type { reconciliation } from '../../workflows/reconciliation.ts';
import type { ReconciliationResult } from '../../workflows/messages.ts';
import type { Config } from '../runtime/config.ts';
import { reconciliationId } from './reconciliation-schedule.ts';

/** Everything that was left open, due or not; joins one that runs already. */
export async function reconcileNow(
  client: Client,
  place: Pick<Config, 'application' | 'taskQueue'>,
  ledgerId: string,
): Promise<ReconciliationResult> {
  const handle = await client.workflow.start<typeof reconciliation>('reconciliation', {
    workflowId: `${reconciliationId(place)}-now`,
    taskQueue: place.taskQueue,
    args: [{ ledgerId, all: true }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return handle.result();
}
