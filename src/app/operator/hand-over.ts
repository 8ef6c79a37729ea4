import type { Client } from '@temporalio/client';
import type { ConsoleActions } from '../../console/console-options.ts';
import type { BatchInput } from '../../domain/messages/messages.ts';
import type { InvoicingService } from '../../service/client.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Config } from '../config/config.ts';
import { bringIn } from '../files/input-files.ts';
import type { CommonFolders } from '../folders/common-folders.ts';
import { answeredCall } from '../temporal/calls.ts';
import { batchOfFile, startBatch, type BatchHandle } from '../temporal/batch-starter.ts';

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

interface HandOverParts {
  readonly config: Config;
  readonly client: Client;
  readonly ledger: Ledger;
  /** Null if this process shares its folders with no other process. */
  readonly folders: CommonFolders | null;
  readonly service: InvoicingService;
  /** See `ProcessStart`. */
  readonly beforeHandOver: ((service: InvoicingService) => Promise<void>) | undefined;
}

/**
 * Starts the batches of files that another process of this data directory names. The owner does not wait for their end:
 * if it leaves earlier, the other process becomes the owner, and the batches continue there.
 */
export function createHandOver(parts: HandOverParts): NonNullable<ConsoleActions['run']> {
  const { config, client, ledger, folders, service, beforeHandOver } = parts;
  return async ({ files, options }, note) => {
    const batches = [];
    for (const file of files) {
      await beforeHandOver?.(service);
      await folders?.require('input');
      const name = await bringIn(config.inputDir, file);
      await note((await batchOfFile(config, ledger, name)).batchId, file);
      const input = { ...(options as StartOptions), file: name, ledgerId: ledger.id };
      const start = () => startBatch({ ...config, client }, input);
      const { batchId, handle } = await answeredCall(client, 'Starting a batch', start);
      batches.push({ batchId, workflowId: handle.workflowId, file });
    }
    return { batches };
  };
}
