import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { awaitResult } from '../../../wiring/temporal/await-result.ts';
import { bringIn } from '../../../wiring/files/input-files.ts';
import { startBatch, type BatchHandle } from '../../../wiring/temporal/batch-starter.ts';
import type { Config } from '../../../runtime/config/config.ts';
import type { BatchInput, BatchProgress, BatchResult } from '../../../contract/messages.ts';
import { batchFailure } from '../../../wiring/temporal/batch-failure.ts';
import { abortedBy } from '../aborted-by.ts';
import type { ProgressLine } from '../../output/progress-line.ts';

/** How often a person sees the bar move. */
const POLL_INTERVAL_MS = 500;

export interface Waiting {
  readonly progress: ProgressLine;
  /** Settled invoices of a batch, from the ledger where this process can read it. */
  readonly settledCount: (batchId: string) => Promise<number>;
  /** Rejects when waiting must end: after an operator's Ctrl-C, or when a part is lost for good. */
  readonly ended: Promise<never>;
}

export interface StartBatches {
  readonly config: Config;
  readonly client: Client;
  readonly ledgerId: string;
  readonly files: readonly string[];
  readonly options: Omit<BatchInput, 'file' | 'ledgerId' | 'application'>;
  /** Rejects when the command must end. */
  readonly ended: Promise<never>;
}

/** A batch that was started or joined, with the handle of its workflow. */
export interface StartedBatch {
  readonly batchId: string;
  readonly handle: BatchHandle;
}

/**
 * Starts a batch per file, or joins the run that has the file already.
 * @throws as `ended` at once, also while a large file is read or Temporal does not answer: no further batch is started then
 */
export function startBatches(start: StartBatches): Promise<readonly StartedBatch[]> {
  return Promise.race([startEach(start, abortedBy(start.ended)), start.ended]);
}

async function startEach(start: StartBatches, over: AbortSignal): Promise<readonly StartedBatch[]> {
  const { config, client, ledgerId } = start;
  const place = { ...config, client };
  const started: StartedBatch[] = [];
  for (const given of start.files) {
    const file = await bringIn(config.inputDir, given, over);
    started.push(await startBatch(place, { ...start.options, file, ledgerId }, over));
  }
  return started;
}

/** Waits for all of them, showing progress; results in their order, failures in Lote's own words. */
export async function waitForBatches(
  batches: readonly StartedBatch[],
  waiting: Waiting,
): Promise<readonly BatchResult[]> {
  try {
    const results: BatchResult[] = [];
    for (const batch of batches) results.push(await waitFor(batch, waiting));
    return results;
  } catch (error) {
    throw batchFailure(error);
  } finally {
    waiting.progress.end();
  }
}

async function waitFor({ batchId, handle }: StartedBatch, waiting: Waiting): Promise<BatchResult> {
  let away = false;
  let done = false;
  const result = awaitResult(handle, {
    pause: (ms) => sleep(ms, undefined, { ref: false }),
    onAway: () => (away = true),
  });
  const over = Promise.race([result, waiting.ended]);
  const ended = over.then(
    () => (done = true),
    () => (done = true),
  );
  while (!done) {
    const progress = await Promise.race([fetchProgress(handle), ended.then(() => null)]);
    if (progress !== null && !done) {
      waiting.progress.show(batchId, progress, await waiting.settledCount(batchId).catch(() => 0));
      away = false;
    } else if (away && !done) waiting.progress.say(`${batchId}: waits for Temporal, which does not answer`);
    await Promise.race([ended, sleep(POLL_INTERVAL_MS)]);
  }
  return over;
}

/** A query may fail while the worker is busy or the run has just ended: the next one will answer. */
export async function fetchProgress(handle: Pick<BatchHandle, 'query'>): Promise<BatchProgress | null> {
  return handle.query<BatchProgress>('progress').catch(() => null);
}
