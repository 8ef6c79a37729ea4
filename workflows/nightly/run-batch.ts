import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  isCancellation,
  ParentClosePolicy,
  startChild,
} from '@temporalio/workflow';
import type { FileEnd } from '../../activities/nightly/nightly-note.ts';
import type { DroppedFile, OpenedNightlyRun } from '../../activities/nightly/nightly.ts';
import { hasPatch } from '../has-patch.ts';
import { invoiceBatch } from '../invoice-batch.ts';
import type { WaitingBatches } from './waiting-batches.ts';

/** What a night needs to know to go on without a file. */
interface Leaving {
  readonly waitingBatches: WaitingBatches;
  readonly isAllElseOver: () => boolean;
}

/**
 * Runs the batch of a dropped file, and returns how it ended for the night; an error of the batch is such an end.
 * The batch outlives the night: cancelled or terminated, the night leaves the file in progress, and the next one joins
 * its batch. It orders nothing again: what is left of a batch that has ended meanwhile waits for a person. A batch that is held or paused goes on by itself when an operator has come; the night does not wait.
 */
export async function runBatch(
  { ledgerId, night }: OpenedNightlyRun,
  { file, slot, batchId, name, resumed }: DroppedFile,
  { waitingBatches, isAllElseOver }: Leaving,
): Promise<FileEnd> {
  const isTakenOver = resumed && hasPatch('leave-a-stopped-file');
  const start = (workflowId: string) =>
    startChild(invoiceBatch, {
      workflowId,
      args: [{ file, ledgerId, ...(isTakenOver && { resumed }) }],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      staticSummary: `dropped file ${name}`,
    });
  let childId: string | null = null;
  const own = `${batchId ?? 'batch-unreadable'}-${night.nightId}-${slot}`;
  try {
    // A batch that runs already is joined by a run beside it, which attaches to it in the ledger. One that was stopped is closed by reconciliation, unless a
    // later run of the same id is open.
    const child = await start(isTakenOver ? own : (batchId ?? own)).catch((error: unknown) => {
      // Not exported by the workflow package; the name is the SDK's contract.
      if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return start(own);
      throw error;
    });
    const ended = child.result().then((result): FileEnd => ({ kind: 'batch', result }));
    childId = child.workflowId;
    return (await Promise.race([ended, ...waitingBatches.begin(childId, isAllElseOver)])) ?? (await ended);
  } catch (error) {
    if (isCancellation(error) && !(error instanceof ChildWorkflowFailure)) throw error;
    return failedEnd(error);
  } finally {
    if (childId !== null) waitingBatches.end(childId);
  }
}

function failedEnd(error: unknown): FileEnd {
  const cause = error instanceof ChildWorkflowFailure ? innermost(error) : error;
  if (cause instanceof ApplicationFailure)
    return { kind: 'failed', code: cause.type ?? 'internal', message: cause.message };
  const name = cause instanceof Error ? cause.name : 'unknown';
  return { kind: 'failed', code: name, message: 'The run was stopped from outside.' };
}

function innermost(error: Error): Error {
  let cause: Error = error;
  while (cause.cause instanceof Error) cause = cause.cause;
  return cause;
}
