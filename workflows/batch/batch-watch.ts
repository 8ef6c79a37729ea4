import { CancellationScope, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { waitAtMost } from '../wait-at-most.ts';

/**
 * A refresh may bring an operator's action that the ledger could not take before: it follows soon after the ledger is
 * back.
 */
const REFRESH_RETRY = { ...options.BOOKKEEPING.retry, initialInterval: '500ms', maximumInterval: '2s' } as const;

const { lookAtBatch: refreshSnapshot } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  retry: REFRESH_RETRY,
  summary: 'refreshing the current details and the audit from the ledger',
});

/** A refresh costs the history a dozen events: a batch of seconds has none, a batch of a night some hundred. */
const FIRST_REFRESH_MS = 15_000;
const LONGEST_REFRESH_MS = 10 * 60_000;
/**
 * In a wait of days, a refresh comes after a twentieth of what it has lasted, up to two hours: 24 days are some 4,000
 * events. The batch holds the claim of its file by its run, and cannot go on in another run.
 */
const LATER_SHARE = 20;
const LATEST_REFRESH_MS = 2 * 60 * 60_000;

/**
 * Does the work, and meanwhile refreshes the snapshot of the batch from the ledger now and then. An action of an
 * operator causes a refresh at once, so that it is in the audit and its effect is visible.
 */
export async function withMonitoring<Result>(
  batch: BatchControl,
  running: RunningBatch,
  work: () => Promise<Result>,
): Promise<Result> {
  const scope = new CancellationScope();
  const watching = scope.run(() => watch(batch, running));
  try {
    return await work();
  } finally {
    scope.cancel();
    await watching;
  }
}

/** Never rejects: what could not be recorded is recorded when the batch is closed. */
async function watch(batch: BatchControl, { ledgerId, batchId }: RunningBatch): Promise<void> {
  try {
    const began = Date.now();
    const longest = (): number =>
      Math.min(Math.max(LONGEST_REFRESH_MS, (Date.now() - began) / LATER_SHARE), LATEST_REFRESH_MS);
    for (let wait = FIRST_REFRESH_MS; ; wait = Math.min(wait * 2, longest())) {
      await waitAtMost(wait, {
        summary: 'until the next refresh from the ledger',
        until: () => batch.pendingActions.length > 0 || batch.refreshWanted,
      });
      batch.refreshing();
      const actions = [...batch.pendingActions];
      const control = batch.sendingControl() ?? undefined;
      batch.showSnapshot(await refreshSnapshot({ ledgerId, batchId, paused: batch.paused, control, actions }));
      batch.notified(actions.length);
    }
  } catch (error) {
    if (!isCancellation(error)) log.warn('the batch is not watched any more', { batchId });
  }
}

/** Writes into the audit what operators did to a file that has nothing to run. */
export async function recordActions(
  batch: BatchControl,
  { ledgerId, batchId }: { readonly ledgerId: string; readonly batchId: string },
): Promise<void> {
  if (batch.pendingActions.length === 0) return;
  const actions = [...batch.pendingActions];
  await refreshSnapshot({ ledgerId, batchId, actions });
  batch.notified(actions.length);
}
