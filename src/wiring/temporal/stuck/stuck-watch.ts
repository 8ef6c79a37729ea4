import type { Client } from '@temporalio/client';
import { repeat, type Repetition } from '../../../concurrency/repeat.ts';
import type { Ledger } from '../../../domain/ports/ledger/ledger.ts';
import type { Telemetry } from '../../../telemetry/telemetry.ts';
import { queryStuckRun } from './stuck-run.ts';

const POLL_INTERVAL_MS = 30_000;
/** More batches than this are hardly open at once, of one application. */
const MOST_BATCHES = 50;

/** Whose stuck batches are looked for, and who is told of them. */
export interface StuckWatch {
  readonly ledger: Pick<Ledger, 'newestOpenBatches'>;
  readonly client: Client;
  /** Whose batches are looked at. */
  readonly applications: ReadonlySet<string>;
  /** Left out: nothing is measured. */
  readonly telemetry?: Pick<Telemetry, 'stuck'>;
  /** Between two looks; default 30 s. */
  readonly everyMs?: number;
  readonly log: { error(message: string, fields?: Record<string, unknown>): void };
}

/**
 * Says once of each batch that its workflow tasks fail again and again, and once that it goes on. It says so at the second look in a row that finds it:
 * the tasks that a worker missed while its process stood still go on with it.
 */
export function watchStuckBatches(watch: StuckWatch): Repetition {
  const stuck = new Map<string, string>();
  const suspects = new Set<string>();
  watch.telemetry?.stuck(() => stuck.size);
  return repeat(watch.everyMs ?? POLL_INTERVAL_MS, () => look(watch, stuck, suspects));
}

async function look(
  { ledger, client, applications, log }: StuckWatch,
  stuck: Map<string, string>,
  suspects: Set<string>,
): Promise<void> {
  const open = (await ledger.newestOpenBatches(MOST_BATCHES)).filter((one) => applications.has(one.application));
  // One that has ended meanwhile, or that newer ones have pushed out, is asked once more.
  const asked = new Map([...stuck, ...open.map(({ batchId, workflowId }) => [batchId, workflowId] as const)]);
  for (const [batchId, workflowId] of asked) {
    const found = await queryStuckRun(client, workflowId);
    if (found === null) {
      suspects.delete(batchId);
      if (stuck.delete(batchId)) log.error('a batch that was stuck goes on', { batchId });
    } else if (!suspects.has(batchId)) {
      suspects.add(batchId);
    } else if (!stuck.has(batchId)) {
      stuck.set(batchId, workflowId);
      log.error(
        'a batch is stuck: its workflow task fails again and again; run a worker with the build that made its last step',
        {
          batchId,
          ...found,
        },
      );
    }
  }
}
