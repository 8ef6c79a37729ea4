import type { Config } from '../../runtime/config/config.ts';
import { connectTemporal } from '../../runtime/temporal/temporal-connection.ts';
import { Client } from '@temporalio/client';
import type { BatchReader, ReadBatch } from '../reports/batch-reader.ts';
import { placeOf } from './connect-client.ts';
import { findStuckRun } from './stuck-run.ts';

const GOING_ON = new Set(['staging', 'running', 'paused']);
/** Each costs a few questions. */
const MOST_ASKED = 20;
/** A reader tells what the ledger says, whether Temporal is there or not. */
const CONNECT_PATIENCE_MS = 3_000;

/** The batches, those whose run does not go on marked. Unmarked when Temporal does not answer: then nobody knows. */
export async function markStuck(
  config: Pick<Config, 'temporal'>,
  { temporal }: Pick<BatchReader, 'temporal'>,
  batches: readonly ReadBatch[],
): Promise<readonly ReadBatch[]> {
  const live = batches.filter(({ state }) => GOING_ON.has(state)).slice(0, MOST_ASKED);
  if (temporal === null || live.length === 0) return batches;
  const place = await placeOf(temporal.address, config.temporal);
  const connection = await connectTemporal(place, CONNECT_PATIENCE_MS).catch(() => null);
  if (connection === null) return batches;
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    const marked = await Promise.all(
      live.map(async (batch) => {
        const stuck = batch.workflowId === undefined ? null : await findStuckRun(client, batch.workflowId);
        return stuck === null ? batch : { ...batch, stuck };
      }),
    );
    const byId = new Map(marked.map((batch) => [batch.batchId, batch]));
    return batches.map((batch) => byId.get(batch.batchId) ?? batch);
  } finally {
    await connection.close();
  }
}
