import type { BatchRecord } from '../domain/ports/ledger.ts';
import type { ConsoleActions } from './console-options.ts';
import { isLive } from './pages/verdict.ts';

/** Batches that are asked for on one page; each costs a few questions to Temporal. */
const MOST_ASKED = 10;

/** Ids of the batches whose run does not go on, as far as Temporal answers in time. */
export async function stuckAmong(
  records: readonly BatchRecord[],
  actions: ConsoleActions | undefined,
): Promise<ReadonlySet<string>> {
  const live = records.filter(isLive).slice(0, MOST_ASKED);
  const found = await Promise.all(
    live.map(async ({ batchId, workflowId }) =>
      ((await actions?.stuck?.(workflowId)) ?? null) === null ? [] : [batchId],
    ),
  );
  return new Set(found.flat());
}
