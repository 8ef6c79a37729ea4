import { allHandlersFinished, condition, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as options from './activity-options.ts';
import { followBatch } from './batch/batch-handlers.ts';
import { runBatch } from './batch/run-batch.ts';
import type { BatchResult, EarlierRun, RetryInput } from '../src/domain/messages/messages.ts';
import { pinToBuild } from './pin-build.ts';
import { retryRequestOf } from './typed-by-hand.ts';

const { reopenBatch } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'what may go again, and the line in the audit',
});

/**
 * Sends invoices of a finished batch again, by states or row numbers, or all that may go; never by reference, because history keeps it.
 * Reopens the batch -> then as any batch: merchants -> pages -> report, in place and with a revision.
 */
export async function retryInvoices(input: RetryInput, before?: EarlierRun): Promise<BatchResult> {
  const batch = followBatch(before);
  const request = retryRequestOf(input);
  await pinToBuild(() => [input, { sha256: null, ...before, asked: batch.asked } satisfies EarlierRun]);
  const { batch: batchId, ledgerId } = input;
  const { workflowId, runId } = workflowInfo();
  const reopened = await reopenBatch({ ledgerId, batchId, workflowId, runId, request });
  batch.begin(reopened.batch);
  const result = await runBatch(batch, reopened.batch);
  await condition(allHandlersFinished);
  return { ...result, retried: { moved: reopened.moved, refused: reopened.refused } };
}
