import { resolve } from 'node:path';
import { LoteError } from '../../../domain/errors.ts';
import type { Config } from '../../../runtime/config/config.ts';
import { connectClient, placeOf } from '../../../wiring/temporal/connect-client.ts';
import { namedInput } from '../../../wiring/temporal/named-input.ts';
import type { OwnerApi } from '../../../wiring/operator/owner-api.ts';
import type { BatchResult } from '../../../contract/messages.ts';
import { settledCount } from '../../../domain/outcome-counts.ts';
import { interruption } from '../interruption.ts';
import { ownerGone } from '../owner-gone.ts';
import { progressLine } from '../../output/progress-line.ts';
import { lineWriter } from '../../output/terminal-text.ts';
import { waitForBatches } from './run-batches.ts';
import type { RunCommand } from './run-command.ts';

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
  const interrupt = interruption(INTERRUPTED, () => undefined);
  const done = new AbortController();
  try {
    const { temporalAddress, temporalNamespace } = owner.endpoints;
    const client = await connectClient(await placeOf(temporalAddress, config.temporal), temporalNamespace);
    try {
      interrupt.begin();
      lineWriter(command)('Handing over to the process that owns the data directory …');
      const files = command.files.map((file) => resolve(file));
      const options = { ...command.options, ...namedInput(config) };
      const handedOver = owner.run({ files, options }, done.signal);
      const { batches } = await Promise.race([handedOver, interrupt.interrupted]);
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
    const isOver = error instanceof LoteError && error.code === 'interrupted';
    if (!isOver && (!owner.owns() || isLeaving(error))) return 'owner-gone';
    throw error;
  } finally {
    done.abort();
    interrupt.end();
  }
}

/** One that is silent, such as a stopped one, has not left. */
function isLeaving(error: unknown): boolean {
  return error instanceof LoteError && error.code === 'owner-leaving' && !isTimeout(error.cause);
}

function isTimeout(cause: unknown): boolean {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}
