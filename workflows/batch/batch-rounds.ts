import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';

const { sendAgain } = proxyActivities<Activities>({ ...options.BOOKKEEPING, summary: 'what goes again' });

/**
 * One round of the pages, and further ones for as long as something goes again: what operators asked for meanwhile (update `retryInvoices`),
 * and failed invoices that the retry policy of the service profile names. Generations are limited, so the rounds end. Returns the batch as the last round left it.
 */
export async function inRounds(
  batch: BatchControl,
  first: RunningBatch,
  round: (running: RunningBatch) => Promise<void>,
): Promise<RunningBatch> {
  let running = first;
  for (let number = 1; ; number += 1) {
    await round(running);
    const { ledgerId, batchId, fencingToken } = running;
    const requests = batch.takeRetries();
    const actionId = `${workflowInfo().workflowId}/${workflowInfo().runId}/round-${number}`;
    const again = await sendAgain({ ledgerId, batchId, fencingToken, actionId, requests, automatic: !batch.cancelled });
    running = again.batch;
    if (again.moved === 0 && !batch.retryWaiting) break;
  }
  // From here on an update would be promised and forgotten; the validator refuses it in this phase.
  batch.phase('reporting');
  return running;
}
