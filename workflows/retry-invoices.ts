import { allHandlersFinished, condition, workflowInfo } from '@temporalio/workflow';
import { activities } from './activities.ts';
import { followBatch } from './batch/batch-handlers.ts';
import { reportBatch, sendAndClose } from './batch/run-batch.ts';
import type { BatchResult, EarlierRun, RetryInput } from '../src/domain/messages/messages.ts';
import { pinToBuild } from './pin-build.ts';
import { retryRequestOf } from './typed-by-hand.ts';

const { reopenBatch } = activities;

/**
 * Sends invoices of a finished batch again: all that may go, or those chosen by state or row number; never by reference, because history keeps it.
 * Its steps: reopen the batch -> merchants -> pages -> report, as for any batch. The report replaces the earlier one as a new revision.
 */
export async function retryInvoices(input: RetryInput, before?: EarlierRun): Promise<BatchResult> {
  const batch = followBatch(before);
  const request = retryRequestOf(input);
  await pinToBuild(() => [input, { sha256: null, ...before, asked: batch.asked } satisfies EarlierRun]);
  const { batch: batchId, ledgerId } = input;
  const { workflowId, runId } = workflowInfo();
  const reopened = await reopenBatch({ ledgerId, batchId, workflowId, runId, request });
  batch.begin(reopened.batch);
  await sendAndClose(batch, reopened.batch);
  const report = await reportBatch(batch, { ...reopened.batch, standing: false });
  await condition(allHandlersFinished);
  const { moved, refused } = reopened;
  return { ...report, pagesFailed: batch.pagesFailed, retried: { moved, refused } };
}
