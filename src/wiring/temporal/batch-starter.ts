import type { Client, WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { batchIdOf } from '../../contract/batch-id.ts';
import type { RunDirectory } from '../../../activities/deps.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { hashFile } from '../../ingest/hash-file.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchInput } from '../../contract/messages.ts';
import { namedInput } from './named-input.ts';
import { requireOwnRun } from './own-run.ts';
import { requireSameStart } from './require-same-start.ts';
import { temporalIdOf } from './temporal-id.ts';
import { resolveInput } from '../files/input-files.ts';

export interface StartPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  /** Others are beside it: what is started names the application. Left out: there is one. */
  readonly isOneOfSeveral?: boolean;
  readonly inputDir: string;
}

/** Handle of a batch's workflow run. */
export type BatchHandle = WorkflowHandle<typeof invoiceBatch>;

/** The batch that a file is, or becomes when it is started: before that, an act can be written down for it. */
export async function batchOfFile(
  { application, inputDir }: Pick<StartPlace, 'application' | 'inputDir'>,
  ledger: Pick<Ledger, 'batchOfFile'>,
  file: string,
): Promise<{ batchId: string; sha256: string }> {
  const sha256 = await hashFile(await resolveInput(inputDir, file));
  const known = await ledger.batchOfFile(application, sha256);
  return { batchId: known?.batchId ?? batchIdOf(application, file, sha256), sha256 };
}

/**
 * Starts a batch under the id that its bytes give it, or joins the run that has this id already.
 * @throws LoteError `ledger-foreign` when that is the run of another installation, which shares the namespace; `usage` when that run was started with
 * other options; the reason of `over`, and nothing is started then
 */
export async function startBatch(
  place: StartPlace,
  input: BatchInput,
  over?: AbortSignal,
): Promise<{ batchId: string; handle: BatchHandle }> {
  const sha256 = await hashFile(await resolveInput(place.inputDir, input.file), over);
  over?.throwIfAborted();
  const batchId = batchIdOf(place.application, input.file, sha256);
  const handle = await place.client.workflow.start<typeof invoiceBatch>('invoiceBatch', {
    workflowId: batchId,
    taskQueue: place.taskQueue,
    args: [{ ...input, ...namedInput(place) }],
    staticSummary: input.file,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
  const run = await requireOwnRun(place, batchId, `Starting the batch of ${JSON.stringify(input.file)}`);
  await requireSameStart(place.client, run, input);
  return { batchId, handle };
}

/** Asks Temporal whether the run that holds a batch is open; one whose workflow Temporal does not know any more is not. */
export function createRunDirectory(client: Client): RunDirectory {
  return {
    isOpen,
    async endedForMs(workflowId, runId) {
      const asked = await describe(workflowId, runId);
      if (asked?.status.name === 'RUNNING') return null;
      const latest = await describe(workflowId);
      if (latest === null) return Number.POSITIVE_INFINITY;
      if (latest.status.name === 'RUNNING') return null;
      return Date.now() - (latest.closeTime?.getTime() ?? 0);
    },
    temporalId: () => temporalIdOf(client),
    async wasStopped({ workflowId, runId, temporalId }) {
      const asked = await describe(workflowId, runId);
      if (isStop(asked) || isStop(await describe(workflowId))) return true;
      if (asked !== null || temporalId === null) return false;
      const now = await temporalIdOf(client);
      // Whoever may not ask for it any more cannot tell a removed run from a lost one.
      return now === null || now === temporalId;
    },
  };

  /**
   * A run that was reset goes on in another one, with all that it had claimed. Once Temporal has removed the first one,
   * nothing names the other but the id of their workflow.
   */
  async function isOpen(workflowId: string, runId: string, asker?: string): Promise<boolean> {
    if (runId === asker) return false;
    const asked = await describe(workflowId, runId);
    if (asked === null) {
      const latest = await describe(workflowId);
      return latest?.status.name === 'RUNNING' && latest.runId !== asker;
    }
    const goesOnIn = asked.raw.workflowExtendedInfo?.resetRunId ?? '';
    return goesOnIn === '' ? asked.status.name === 'RUNNING' : isOpen(workflowId, goesOnIn, asker);
  }

  async function describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription | null> {
    try {
      return await client.workflow.getHandle(workflowId, runId).describe();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }
}

function isStop(run: WorkflowExecutionDescription | null): boolean {
  if (run === null) return false;
  return run.status.name === 'TERMINATED' || run.status.name === 'CANCELLED' || run.type === 'reconciliation';
}
