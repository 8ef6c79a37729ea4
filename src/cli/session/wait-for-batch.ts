import { LoteError } from '../../domain/errors.ts';
import type { BatchResult } from '../../contract/messages.ts';
import { progressLine } from '../output/progress-line.ts';
import { waitForBatches } from './run/run-batches.ts';
import type { Backend } from './with-backend.ts';

/** Waits for the end of a workflow of one batch, with its progress on stderr. @throws LoteError as its run ended */
export async function waitForBatch(
  { client, settledCount, ended }: Pick<Backend, 'client' | 'settledCount' | 'ended'>,
  batchId: string,
  workflowId: string,
): Promise<BatchResult> {
  const [result] = await waitForBatches([{ batchId, handle: client.workflow.getHandle(workflowId) }], {
    ...{ progress: progressLine(), settledCount, ended },
  });
  if (result === undefined)
    throw new LoteError(
      'internal',
      `Waiting for batch ${batchId}: its run ended without a result. \`lote status\` says where the batch stands.`,
    );
  return result;
}
