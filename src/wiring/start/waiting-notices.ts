import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { TellWaiting } from '../../../activities/batch/waiting-notice.ts';

/** Workflows that show what they wait for; a page's batch does so for it. */
const BATCHES: ReadonlySet<string> = new Set(['invoiceBatch', 'retryInvoices']);
/** The activity's own failure must not wait longer for a server that is slow. */
const PATIENCE_MS = 5_000;

/** Tells the batch of an activity what is waited for, by the signal that its pages use; never rejects. */
export function createWaitingNotices(
  client: Client,
  log: { warn(message: string, fields?: Record<string, unknown>): void },
): TellWaiting {
  return async ({ workflowId, runId, activity, reason }) => {
    const told = tell().catch((error: unknown) => {
      log.warn('a batch could not be told what it waits for', { workflowId, activity, err: error });
    });
    await Promise.race([told, sleep(PATIENCE_MS, undefined, { ref: false })]);

    async function tell(): Promise<void> {
      const { type, parentExecution } = await client.workflow.getHandle(workflowId, runId).describe();
      const batch = BATCHES.has(type) ? workflowId : type === 'invoicePage' ? parentExecution?.workflowId : null;
      if (batch === null || batch === undefined) return;
      await client.workflow.getHandle(batch).signal('waiting', { page: noticeKey(workflowId, activity), reason });
    }
  };
}

/** Below zero, where no page stands: one for each activity of each workflow, so that none takes the notice of another away. */
function noticeKey(workflowId: string, activity: string): number {
  let hash = 0;
  for (const character of `${workflowId} ${activity}`)
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 1_000_000_007;
  return -1 - hash;
}
