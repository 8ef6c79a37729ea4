import type { Config } from '../../../runtime/config/config.ts';
import type { BatchReader, ReadBatch } from '../../reports/batch-reader.ts';

const GOING_ON = new Set(['staging', 'running', 'paused']);
/** Each costs a few questions. */
const MOST_ASKED = 20;

/** The batches, those whose run does not go on marked. Unmarked when Temporal does not answer: then nobody knows. */
export async function markStuck(
  config: Pick<Config, 'temporal'>,
  { temporal }: Pick<BatchReader, 'temporal'>,
  batches: readonly ReadBatch[],
): Promise<readonly ReadBatch[]> {
  const live = batches.filter(({ state }) => GOING_ON.has(state)).slice(0, MOST_ASKED);
  if (temporal === null || live.length === 0) return batches;
  // Temporal's client takes half a second to load.
  const { findStuckRuns } = await import('./stuck-runs.ts');
  const stuck = await findStuckRuns(config, temporal, live);
  return batches.map((batch) => {
    const run = stuck.get(batch.batchId);
    return run === undefined ? batch : { ...batch, stuck: run };
  });
}
