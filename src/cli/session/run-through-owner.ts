import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LoteError } from '../../domain/errors.ts';
import type { Config } from '../../runtime/config/config.ts';
import { connectClient, placeOf } from '../../wiring/temporal/connect-client.ts';
import { namedInput } from '../../wiring/temporal/named-input.ts';
import type { OwnerApi } from '../../wiring/operator/owner-api.ts';
import type { BatchResult } from '../../contract/messages.ts';
import { settledCount } from '../../domain/settled-count.ts';
import { interruptionFromNow } from './interruption.ts';
import { progressLine } from '../output/progress-line.ts';
import { waitForBatches } from './run-batches.ts';
import type { RunCommand } from './run-command.ts';

const POLL_INTERVAL_MS = 500;
const INTERRUPTED =
  'Interrupted: the process that owns the data directory goes on with the batch. `lote status` tells where it stands.';

/**
 * Hands the files to the process that owns the data directory, and waits for what it makes of them; `owner-gone` when
 * it leaves before.
 */
export async function runThroughOwner(
  owner: OwnerApi,
  config: Config,
  command: RunCommand,
): Promise<readonly BatchResult[] | 'owner-gone'> {
  const interrupt = interruptionFromNow(INTERRUPTED, () => undefined);
  const done = new AbortController();
  try {
    const { temporalAddress, temporalNamespace } = owner.endpoints;
    const client = await connectClient(await placeOf(temporalAddress, config.temporal), temporalNamespace);
    try {
      const { batches } = await owner.run({
        files: command.files.map((file) => resolve(file)),
        options: { ...command.options, ...namedInput(config) },
      });
      const started = batches.map(({ batchId, workflowId }) => ({
        batchId,
        handle: client.workflow.getHandle(workflowId),
      }));
      return await waitForBatches(started, {
        progress: progressLine(),
        settledCount: async (batchId) => settledCount((await owner.batch(batchId))?.counts ?? {}),
        ended: Promise.race([interrupt.interrupted, ownerGone(owner, done.signal)]),
      });
    } finally {
      await client.connection.close();
    }
  } catch (error) {
    // Its Temporal server may outlive it, or go first: either way nobody works on the batch any more.
    if (isGone(error) || !owner.owns()) return 'owner-gone';
    throw error;
  } finally {
    done.abort();
    interrupt.end();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof LoteError && error.code === 'owner-leaving';
}

async function ownerGone(owner: OwnerApi, done: AbortSignal): Promise<never> {
  while (owner.owns()) {
    await sleep(POLL_INTERVAL_MS, undefined, { ref: false });
    if (done.aborted) return new Promise(() => undefined);
  }
  throw new LoteError(
    'owner-leaving',
    'Waiting for the owner of the data directory: it has ended. The same command goes on where it stopped.',
  );
}
