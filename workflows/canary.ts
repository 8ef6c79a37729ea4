import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { RunningBatch } from '../activities/running-batch.ts';
import * as options from './activity-options.ts';
import type { BatchControl } from './batch-control.ts';

const { submitSlice } = proxyActivities<Activities>({ ...options.SUBMIT, summary: 'a few invoices first' });

const { judgeCanary } = proxyActivities<Activities>({
  ...options.BOOKKEEPING,
  summary: 'were all of the first ones refused?',
});

/** Enough to see that nothing of a file is wanted, few enough to be asked about by telephone. */
const CANARY = 20;
/** A small batch is its own canary. */
const SMALLEST_BATCH = 10 * CANARY;

/** A few invoices go before the thousands: when the service refuses every one of them, the rest is held and the pages find nothing to send. */
export async function sendCanary(
  batch: BatchControl,
  { ledgerId, batchId, fencingToken, run, invoices, pages }: RunningBatch,
): Promise<void> {
  const [first] = pages;
  if (first === undefined || invoices < SMALLEST_BATCH || batch.cancelled || batch.paused) return;
  const { page, firstOrdinal, lastOrdinal } = first;
  const to = Math.min(firstOrdinal + CANARY - 1, lastOrdinal);
  await submitSlice({ ledgerId, batchId, run, page, from: firstOrdinal, to });
  await judgeCanary({ ledgerId, batchId, fencingToken });
}
