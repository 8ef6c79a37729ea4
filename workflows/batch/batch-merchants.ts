import { condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { waitAtMost } from '../wait-at-most.ts';

const { ensureMerchants } = proxyActivities<Activities>({
  ...options.MERCHANTS,
  summary: 'the merchants of the batch',
});

/** Nothing has been sent yet, so there is no hurry: asked again after 1, 2, 4 … 30 s. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** An outage of days: a twentieth of what was waited already, up to a quarter of an hour, so that 24 days are some 25,000 events. */
const LATER_SHARE = 20;
const LATEST_WAIT_MS = 15 * 60_000;
/** Rounds in which the list was read and a merchant was not created all the same; then it is that merchant's trouble. */
const STUCK_ROUNDS = 5;

/** Waits for a service that is away as in an outage; holds the invoices of single merchants that cannot be created. */
export async function ensureMerchantsPatiently(batch: BatchControl, ingested: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, run, settings } = ingested;
  let waited = 0;
  let stuckRounds = 0;
  batch.phase('merchants');
  const longest = (): number => Math.min(Math.max(LONGEST_WAIT_MS, waited / LATER_SHARE), LATEST_WAIT_MS);
  for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, longest())) {
    await condition(() => !batch.paused || batch.cancelled);
    // Cancelled: nothing more is sent, so no merchant is needed either.
    if (batch.cancelled) break;
    const lastTry = waited >= settings.patienceMs;
    const merchants = await ensureMerchants({
      ledgerId,
      batchId,
      fencingToken,
      run,
      lastTry,
      holdStuck: lastTry || stuckRounds >= STUCK_ROUNDS,
    });
    if (merchants.waiting === null || lastTry) break;
    stuckRounds = merchants.waiting.for === 'merchants' ? stuckRounds + 1 : 0;
    batch.waitFor(0, merchants.waiting.reason);
    const left = Math.min(wait, settings.patienceMs - waited);
    await waitAtMost(left, { summary: `waiting: ${merchants.waiting.reason}`, until: () => batch.cancelled });
    waited += left;
  }
  batch.waitFor(0, null);
}
