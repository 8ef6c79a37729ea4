import { condition, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { RunningBatch } from '../../activities/batch/running-batch.ts';
import * as options from '../activity-options.ts';
import type { BatchControl } from './batch-control.ts';
import { PatientWait, waitForService } from './patient-wait.ts';
import { hasPatch } from '../has-patch.ts';

const { ensureMerchants } = proxyActivities<Activities>({
  ...options.MERCHANTS,
  summary: 'the merchants of the batch',
});

/** Rounds in which the list was read and a merchant was not created all the same; then it is that merchant's trouble. */
const STUCK_ROUNDS = 5;

/** An operator stopped the batch while its merchants were created (`activities/sending/merchants.ts`). */
const STOPPED = 'sending-stopped';

/** Waits for a service that is away as in an outage; holds the invoices of single merchants that cannot be created. */
export async function ensureMerchantsPatiently(batch: BatchControl, ingested: RunningBatch): Promise<void> {
  const { ledgerId, batchId, fencingToken, run, settings } = ingested;
  const patience = new PatientWait(settings.patienceMs);
  let stuckRounds = 0;
  batch.phase('merchants');
  for (;;) {
    await condition(() => !batch.paused || batch.cancelled);
    // Cancelled: nothing more is sent, so no merchant is needed either.
    if (batch.cancelled) break;
    const lastTry = patience.isSpent;
    const version = batch.controlVersion;
    const merchants = await ensureMerchants({
      ledgerId,
      batchId,
      fencingToken,
      run,
      lastTry,
      holdStuck: lastTry || stuckRounds >= STUCK_ROUNDS,
    });
    // A pause says nothing of the service: it costs no patience, and no last try.
    const isPaused = merchants.waiting?.reason === STOPPED && (batch.paused || batch.controlVersion !== version);
    if (isPaused && hasPatch('merchants-after-a-pause')) continue;
    if (merchants.waiting === null || lastTry) break;
    stuckRounds = merchants.waiting.for === 'merchants' ? stuckRounds + 1 : 0;
    batch.waitFor(0, merchants.waiting.reason);
    await waitForService(batch, patience, { summary: `waiting: ${merchants.waiting.reason}`, version });
  }
  batch.waitFor(0, null);
}
