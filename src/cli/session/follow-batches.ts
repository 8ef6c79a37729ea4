import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { BatchProgress, BatchResult } from '../../domain/messages/messages.ts';
import { settledCount } from '../../domain/outcome-counts.ts';
import type { Operations } from '../../console/operations.ts';
import { batchFailure, awaitResult, type AwaitedHandle } from '../../app/temporal/calls.ts';
import type { BatchHandle } from '../../app/temporal/batch-starter.ts';
import { progressLine, type ProgressLine } from '../output/progress-line.ts';

/** How often a person sees the bar move. */
const POLL_INTERVAL_MS = 500;

/** A batch that was started or joined, with the handle of its workflow. */
export interface FollowedBatch {
  readonly batchId: string;
  readonly handle: BatchHandle;
}

/** What is asked while batches are waited for. */
export interface Following {
  readonly operations: Pick<Operations, 'batch'>;
  /** Rejects when waiting must end: at Ctrl-C, and when the part that does the work is lost. */
  readonly ended: Promise<never>;
}

/** Waits for the end of batches of a session, showing progress; results in their order. @throws LoteError as a run ended */
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

/** The same for the workflow that has, or had, one batch. */
export async function followBatch(
  session: Following & { readonly client: Client },
  batchId: string,
  workflowId: string,
): Promise<BatchResult> {
  const line = progressLine();
  try {
    return await waitFor({ batchId, handle: session.client.workflow.getHandle(workflowId) }, session, line);
  } finally {
    line.end();
  }
}

/** Asks for the progress only while the run is waited for: with the wait, the question that is open ends too. */
async function waitFor(
  { batchId, handle }: FollowedBatch,
  { operations, ended }: Following,
  line: ProgressLine,
): Promise<BatchResult> {
  let isShown = false;
  const over = new AbortController();
  const awaited = awaitRun(
    handle,
    ended,
    (reason) => line.say(`${batchId}: ${reason}`),
    () => isShown,
  );
  const result = awaited.finally(() => over.abort());
  const closed = result.then(
    () => null,
    () => null,
  );
  while (!over.signal.aborted) {
    const progress = await Promise.race([fetchProgress(handle, over.signal), closed]);
    isShown = progress !== null;
    if (progress !== null && !over.signal.aborted) {
      const batch = await operations.batch(batchId).catch(() => null);
      line.show(batchId, progress, settledCount(batch?.counts ?? {}));
    }
    await Promise.race([closed, sleep(POLL_INTERVAL_MS)]);
  }
  return result;
}

/** A query may fail while the worker is busy or the run has just ended: the next one will answer. */
export async function fetchProgress(
  handle: Pick<BatchHandle, 'query' | 'client'>,
  over: AbortSignal = new AbortController().signal,
): Promise<BatchProgress | null> {
  // The client never takes its listener off a signal: each query has a signal of its own.
  const signal = AbortSignal.any([over]);
  return handle.client.withAbortSignal(signal, () => handle.query<BatchProgress>('progress')).catch(() => null);
}

const LOOK_EVERY_MS = 5_000;
/** A night has batches, and a batch has pages. */
const LEVELS = 3;
const MOST_CHILDREN = 20;
/** PENDING_WORKFLOW_TASK_STATE_SCHEDULED */
const TASK_WAITS = 1;

/**
 * The result of a run, also over an outage of Temporal. Says what keeps the run waiting, each time it changes, unless
 * `isShown`: then another line does. Rejects when `ended` does.
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
  const result = awaitResult(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway });
  try {
    return await Promise.race([result, ended]);
  } catch (error) {
    throw batchFailure(error);
  } finally {
    // What ends the wait closes the connection, too: that is no outage.
    isOver = true;
    clearInterval(looks);
  }
}

/** Why a run, or one that it waits for, does not go on; null: it goes on, as far as Temporal knows. */
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
