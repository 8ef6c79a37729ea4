import type { BatchRecord, Ledger } from '../../domain/ports/ledger.ts';
import type { RunDirectory } from '../../../activities/deps.ts';

/** Beyond this, open batches are shown as a number only. */
const MOST_LOOKED_AT = 500;
const OPEN: ReadonlySet<BatchRecord['state']> = new Set(['staging', 'running', 'paused']);

export interface OrphanedBatches {
  /** Their runs live in Temporal: the worker goes on with them. */
  readonly goingOn: readonly string[];
  /** Begun, and Temporal does not know their run: their file must be run again, or reconciliation closes them. */
  readonly withoutRun: readonly string[];
}

/** What an earlier owner left unfinished; read before the worker starts anything new. */
export async function orphanedBatches(
  ledger: Pick<Ledger, 'listBatches'>,
  runs: Pick<RunDirectory, 'isOpen'>,
  ownFiles: ReadonlySet<string>,
): Promise<OrphanedBatches> {
  const goingOn: string[] = [];
  const withoutRun: string[] = [];
  for (const batch of await ledger.listBatches(MOST_LOOKED_AT)) {
    if (!OPEN.has(batch.state) || ownFiles.has(batch.sha256)) continue;
    const open = await runs.isOpen(batch.workflowId, batch.runId);
    (open ? goingOn : withoutRun).push(batch.batchId);
  }
  return { goingOn, withoutRun };
}

/** For the person who waits; none when nothing was left. */
export function describeOrphaned({ goingOn, withoutRun }: OrphanedBatches): readonly string[] {
  return [
    ...(goingOn.length === 0
      ? []
      : [`Also going on with what an earlier run left: ${goingOn.join(', ')}. It is not waited for.`]),
    ...(withoutRun.length === 0
      ? []
      : [
          `Left unfinished, and no run goes on with it: ${withoutRun.join(', ')}. Run its file again to finish it; reconciliation (\`lote reconcile\`) closes it otherwise, with a report.`,
        ]),
  ];
}
