import { commandLine, type CommandReader } from '../../domain/text/command-line.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { RunDirectory } from '../../../activities/deps.ts';
import type { Client } from '@temporalio/client';
import { createRunDirectory } from '../temporal/batch-starter.ts';

/** Of each application; nobody reads a longer line. */
const MOST_LOOKED_AT = 500;

export interface OrphanedBatches {
  /** Their runs live in Temporal: the worker goes on with them. */
  readonly goingOn: readonly string[];
  /** Begun, and Temporal does not know their run: their file must be run again, or reconciliation closes them. */
  readonly withoutRun: readonly string[];
}

/** What an earlier owner left unfinished; read before the worker starts anything new. */
export async function orphanedBatches(
  ledger: Pick<Ledger, 'newestOpenBatches'>,
  runs: Pick<RunDirectory, 'isOpen'>,
  ownFiles: ReadonlySet<string>,
): Promise<OrphanedBatches> {
  const goingOn: string[] = [];
  const withoutRun: string[] = [];
  for (const batch of await ledger.newestOpenBatches(MOST_LOOKED_AT)) {
    if (ownFiles.has(batch.sha256)) continue;
    const open = await runs.isOpen(batch.workflowId, batch.runId);
    (open ? goingOn : withoutRun).push(batch.batchId);
  }
  return { goingOn, withoutRun };
}

/** The same in words for the person who waits. Where it cannot be read at this moment, one line says so, and the work goes on. */
export async function orphanedLines(
  { ledger, client }: { readonly ledger: Pick<Ledger, 'newestOpenBatches'>; readonly client: Client },
  ownFiles: ReadonlySet<string>,
  reader: CommandReader,
): Promise<readonly string[]> {
  try {
    return describeOrphaned(await orphanedBatches(ledger, createRunDirectory(client), ownFiles), reader);
  } catch {
    return ['What an earlier run left unfinished could not be read at this moment; `lote status` shows it.'];
  }
}

/** For the person who waits, who works for `reader`; none when nothing was left. */
export function describeOrphaned({ goingOn, withoutRun }: OrphanedBatches, reader: CommandReader): readonly string[] {
  return [
    ...(goingOn.length === 0
      ? []
      : [`Also going on with what an earlier run left: ${goingOn.join(', ')}. It is not waited for.`]),
    ...(withoutRun.length === 0
      ? []
      : [
          `Left unfinished, and no run goes on with it: ${withoutRun.join(', ')}. Run its file again to finish it; reconciliation (\`${commandLine(reader, 'reconcile')}\`) closes it otherwise, with a report.`,
        ]),
  ];
}
