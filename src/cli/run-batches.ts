import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { bringIn } from '../wiring/input-files.ts';
import { startBatch, type BatchHandle } from '../wiring/batch-starter.ts';
import type { Config } from '../runtime/config.ts';
import type { BatchInput, BatchProgress, BatchResult } from '../../workflows/messages.ts';
import type { ProgressLine } from './progress-line.ts';

/** How often a person sees the bar move. */
const LOOK_EVERY_MS = 500;

export interface RunBatches {
  readonly config: Config;
  readonly client: Client;
  /** Null: the owner's worker is the only one there, and names its own. */
  readonly ledgerId: string | null;
  readonly files: readonly string[];
  readonly options: Omit<BatchInput, 'file' | 'ledgerId'>;
  readonly progress: ProgressLine;
  /** Invoices of a batch that came to rest, from the ledger where this process has it. */
  readonly atRest: (batchId: string) => Promise<number>;
}

/** Starts a batch per file and waits for all of them; results in the order of the files. */
export async function runBatches(run: RunBatches): Promise<readonly BatchResult[]> {
  const { config, client } = run;
  const place = { client, taskQueue: config.taskQueue, application: config.application, inputDir: config.inputDir };
  const started: { batchId: string; handle: BatchHandle }[] = [];
  for (const file of run.files) {
    const name = await bringIn(config.inputDir, file);
    started.push(
      await startBatch(place, {
        ...run.options,
        file: name,
        ...(run.ledgerId === null ? {} : { ledgerId: run.ledgerId }),
      }),
    );
  }
  const results: BatchResult[] = [];
  for (const { batchId, handle } of started) results.push(await waitFor(run, batchId, handle));
  run.progress.end();
  return results;
}

async function waitFor(run: RunBatches, batchId: string, handle: BatchHandle): Promise<BatchResult> {
  const result = handle.result();
  let done = false;
  const ended = result.then(
    () => (done = true),
    () => (done = true),
  );
  while (!done) {
    const progress = await askProgress(handle);
    if (progress !== null && !done) run.progress.show(batchId, progress, await run.atRest(batchId));
    await Promise.race([ended, sleep(LOOK_EVERY_MS)]);
  }
  return result;
}

/** A query may fail while the worker is busy or the run has just ended: the next look will tell. */
async function askProgress(handle: BatchHandle): Promise<BatchProgress | null> {
  return handle.query<BatchProgress>('progress').catch(() => null);
}
