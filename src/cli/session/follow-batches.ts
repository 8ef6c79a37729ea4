import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { BatchProgress, BatchResult } from '../../domain/messages/messages.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import type { Operations } from '../../console/operations.ts';
import { batchFailure, awaitResult, type AwaitedHandle } from '../../app/temporal/calls.ts';
import type { BatchHandle } from '../../app/temporal/batch-starter.ts';
import { progressLine, type ProgressLine } from '../output/progress-line.ts';

/** How often the progress line moves. */
const POLL_INTERVAL_MS = 500;

/** A batch that was started or joined, with the handle of its workflow. */
export interface FollowedBatch {
  readonly batchId: string;
  readonly handle: BatchHandle;
}

/** The parts that a command needs to wait for batches. */
export interface Following {
  readonly operations: Pick<Operations, 'batch'>;
  /** Rejects when waiting must end: at Ctrl-C, and when the part that does the work is lost. */
  readonly ended: Promise<never>;
}

/** Waits until the batches have ended, and shows progress. Returns the results in the order of the batches. @throws LoteError as a run ended */
export async function followBatches(
  session: Following,
  batches: readonly FollowedBatch[],
  line: ProgressLine = progressLine(),
): Promise<readonly BatchResult[]> {
  try {
    const results: BatchResult[] = [];
    for (const batch of batches) results.push(await waitFor(batch, session, line));
    return results;
  } finally {
    line.end();
  }
}

/** Waits like `followBatches`, for the workflow that has, or had, one batch. */
export async function followBatch(
  session: Following & { readonly client: Client },
  batchId: string,
  workflowId: string,
): Promise<BatchResult> {
  const handle: BatchHandle = session.client.workflow.getHandle(workflowId);
  const [result] = await followBatches(session, [{ batchId, handle }]);
  return result as BatchResult;
}

/** Waits for one batch. Shows its progress unless the query fails: the worker may be busy, or the run may have just ended. */
async function waitFor(
  { batchId, handle }: FollowedBatch,
  { operations, ended }: Following,
  line: ProgressLine,
): Promise<BatchResult> {
  let isShown = false;
  let isOver = false;
  const say = (reason: string): void => line.say(`${batchId}: ${reason}`);
  const result = awaitRun(handle, ended, say, () => isShown);
  const closed = result
    .catch(() => null)
    .then(() => {
      isOver = true;
      return null;
    });
  while (!isOver) {
    const query = handle.query<BatchProgress>('progress').catch(() => null);
    const progress = await Promise.race([query, closed]);
    isShown = progress !== null;
    if (progress !== null && !isOver) {
      const batch = await operations.batch(batchId).catch(() => null);
      line.show(batchId, progress, settledCount(batch?.counts ?? {}));
    }
    await Promise.race([closed, sleep(POLL_INTERVAL_MS)]);
  }
  return result;
}

const LOOK_EVERY_MS = 5_000;
/** Workflow levels: a night has batches, and a batch has pages. */
const LEVELS = 3;
const MOST_CHILDREN = 20;
/** PENDING_WORKFLOW_TASK_STATE_SCHEDULED */
const TASK_WAITS = 1;

/**
 * Returns the result of a run, also over an outage of Temporal. Reports each new reason why the run waits, unless
 * `isShown` says that another line shows it. Rejects when `ended` rejects.
 * @throws LoteError as the run ended
 */
export async function awaitRun<Result>(
  handle: Pick<WorkflowHandle, 'describe'> & AwaitedHandle<Result>,
  ended: Promise<never>,
  notify: (reason: string) => void,
  isShown: () => boolean = () => false,
): Promise<Result> {
  let said: string | null = null;
  let isOver = false;
  const say = (reason: string | null): void => {
    if (isShown()) said = null;
    if (isOver || isShown() || reason === null || reason === said) return;
    said = reason;
    notify(reason);
  };
  const onAway = (): void => say('waits for Temporal, which does not answer');
  const look = (): void => void waitOf(handle, LEVELS).then(say, () => undefined);
  const looks = setInterval(look, LOOK_EVERY_MS).unref();
  const result = awaitResult(handle, onAway);
  try {
    return await Promise.race([result, ended]);
  } catch (error) {
    throw batchFailure(error);
  } finally {
    // The end of the wait also closes the connection, which is not an outage.
    isOver = true;
    clearInterval(looks);
  }
}

/** Returns why a run, or a run that it waits for, does not go on; null if Temporal knows no reason. */
async function waitOf(handle: Pick<WorkflowHandle, 'describe' | 'client'>, levels: number): Promise<string | null> {
  const { pendingActivities, pendingChildren, pendingWorkflowTask } = (await handle.describe()).raw;
  const failed = pendingActivities?.find(({ lastFailure }) => lastFailure?.message);
  if (failed?.lastFailure?.message) return `waits, and tries again. ${failed.lastFailure.message}`;
  if (pendingWorkflowTask?.state === TASK_WAITS) return 'waits for a worker to take it';
  if (levels === 1) return null;
  const children = (pendingChildren ?? []).slice(0, MOST_CHILDREN).flatMap((child) => child.workflowId ?? []);
  const waits = await Promise.all(children.map((child) => waitOf(handle.client.getHandle(child), levels - 1)));
  return waits.find((wait) => wait !== null) ?? null;
}
