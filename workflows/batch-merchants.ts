import { proxyActivities, sleep } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { RunningBatch } from '../activities/running-batch.ts';
import * as options from './activity-options.ts';
import type { BatchControl } from './batch-control.ts';

const { ensureMerchants } = proxyActivities<Activities>(options.MERCHANTS);

/** A service that is away at this point is waited for, as in an outage; nothing has been sent yet. */
export async function ensureMerchantsPatiently(batch: BatchControl, running: RunningBatch): Promise<void> {
  batch.phase('merchants');
  const { ledgerId, batchId, settings } = running;
  for (let waited = 0; ;) {
    const lastTry = waited >= settings.patienceMs || batch.cancelled;
    const merchants = await ensureMerchants({ ledgerId, batchId, lastTry });
    batch.waitFor(0, merchants.waiting?.reason ?? null);
    if (merchants.waiting === null || lastTry) return;
    await sleep(merchants.waiting.probeAfterMs, { summary: `waiting: ${merchants.waiting.reason}` });
    waited += merchants.waiting.probeAfterMs;
  }
}
