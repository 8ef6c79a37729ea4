import { Client } from '@temporalio/client';
import type { Config } from '../../../runtime/config/config.ts';
import { connectTemporal } from '../../../runtime/temporal/temporal-connection.ts';
import type { BatchReader, ReadBatch } from '../../reports/batch-reader.ts';
import { placeOf } from '../connect-client.ts';
import { findStuckRun, type StuckRun } from './stuck-run.ts';

/** A reader tells what the ledger says, whether Temporal is there or not. */
const CONNECT_PATIENCE_MS = 3_000;

/** Which of the batches have a run that does not go on, by batch id; empty when Temporal does not answer. */
export async function findStuckRuns(
  config: Pick<Config, 'temporal'>,
  temporal: NonNullable<BatchReader['temporal']>,
  batches: readonly ReadBatch[],
): Promise<ReadonlyMap<string, StuckRun>> {
  const found = new Map<string, StuckRun>();
  const place = await placeOf(temporal.address, config.temporal);
  const connection = await connectTemporal(place, CONNECT_PATIENCE_MS).catch(() => null);
  if (connection === null) return found;
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    await Promise.all(
      batches.map(async ({ batchId, workflowId }) => {
        const stuck = workflowId === undefined ? null : await findStuckRun(client, workflowId);
        if (stuck !== null) found.set(batchId, stuck);
      }),
    );
    return found;
  } finally {
    await connection.close();
  }
}
