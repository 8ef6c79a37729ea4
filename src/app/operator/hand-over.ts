import type { Client } from '@temporalio/client';
import type { RunAccess } from '../../console/console-options.ts';
import type { RunAnswer, RunRequest } from '../../console/operations.ts';
import type { BatchInput } from '../../domain/messages/messages.ts';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../config/config.ts';
import { bringIn } from '../files/input-files.ts';
import { startBatch, type BatchHandle } from '../temporal/batch-starter.ts';

/** Input of a batch besides its file. */
export type StartOptions = Omit<BatchInput, 'file' | 'ledgerId'>;

/** Brings a file in and starts its batch, or joins the run that has it. @throws the reason of `over`; then nothing is started */
export async function startFile(
  { config, client, ledgerId }: { readonly config: Config; readonly client: Client; readonly ledgerId: string },
  file: string,
  options: StartOptions,
  over?: AbortSignal,
): Promise<{ readonly batchId: string; readonly handle: BatchHandle }> {
  const name = await bringIn(config.inputDir, file, over);
  return startBatch({ ...config, client }, { ...options, file: name, ledgerId }, over);
}

/** Starts the batch of one file, and resolves after the start. */
export type StartHandedOver = (
  file: string,
  options: StartOptions,
  access: RunAccess,
) => Promise<{ batchId: string; workflowId: string; ended: Promise<unknown> }>;

/** Work that other processes of this data directory hand to its owner. */
export interface HandOver {
  /** @throws LoteError `owner-leaving`, after which the caller becomes the owner itself. */
  run(request: RunRequest, access: RunAccess): Promise<RunAnswer>;
  /** Number of requests whose batches have not all ended. */
  readonly open: number;
  /** Resolves when all handed-over work has ended; from then on the owner accepts no more. */
  finish(): Promise<void>;
  /** Makes the owner refuse new work from now on. */
  refuse(): void;
}

/** The owner of a data directory leaves only when all handed-over work has ended. */
export function createHandOver(start: StartHandedOver): HandOver {
  const open = new Set<Promise<unknown>>();
  let leaving = false;
  return {
    async run({ files, options }, access) {
      if (leaving) {
        throw new LoteError('owner-leaving', 'Handing work over: the owner of the data directory is about to leave.');
      }
      /** Ends of the started batches, which count even if a later file of the request is refused. */
      const ends: Promise<unknown>[] = [];
      async function startAll(): Promise<RunAnswer> {
        const batches = [];
        for (const file of files) {
          const { batchId, workflowId, ended } = await start(file, options as StartOptions, access);
          batches.push({ batchId, workflowId, file });
          ends.push(ended);
        }
        return { batches };
      }
      const starting = startAll();
      // Counted before the first await, because the owner must not leave between a request and its batches.
      const whole = starting.catch(() => undefined).then(() => Promise.allSettled(ends));
      open.add(whole);
      void whole.then(() => open.delete(whole));
      return starting;
    },
    get open() {
      return open.size;
    },
    async finish() {
      while (open.size > 0) await Promise.all(open);
      leaving = true;
    },
    refuse() {
      leaving = true;
    },
  };
}
