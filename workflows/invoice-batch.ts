import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  continueAsNew,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { IngestResult } from '../activities/batch/ingest.ts';
import { activities } from './activities.ts';
import { followBatch } from './batch/batch-handlers.ts';
import { pinToBuild } from './pin-build.ts';
import { growingWait, historyIsLong } from './wait-at-most.ts';
import { requireBatchInput } from './typed-by-hand.ts';
import type { BatchInput, BatchResult, EarlierRun } from '../src/domain/messages/messages.ts';
import { recordActions, reportBatch, sendAndClose } from './batch/run-batch.ts';
import type { NotedAction, StartOrder } from '../src/domain/records/batch-record.ts';

const { ingestBatch } = activities;

/** While another run holds the file, looks again after 1, 2, 4 … 30 s. */
const LOOKS = { firstMs: 1_000, longestMs: 30_000, latestMs: 30_000 };

/**
 * Runs one file of invoices, from its first byte to its report. Its steps are the table of contents of Lote:
 * read the file -> ensure its merchants -> send and settle its pages, failed ones again if the profile says so -> report.
 * `run-batch.ts` has the middle; `retry-invoices.ts` does the same for a finished batch. A run that waits for another run
 * continues as a new run when its history becomes long; `before` tells the new run what to wait for.
 */
export async function invoiceBatch(input: BatchInput, before?: EarlierRun): Promise<BatchResult> {
  const batch = followBatch(before);
  requireBatchInput(input);
  await pinToBuild(() => [input, { sha256: null, ...before, asked: batch.asked } satisfies EarlierRun]);

  const ingested = await ingestOrAttach();
  if (ingested.kind === 'running') {
    batch.begin(ingested);
    await sendAndClose(batch, ingested);
  } else if (batch.pendingActions.length > 0) {
    await recordActions(batch, ingested);
  }

  const report = await reportBatch(batch, { ...ingested, standing: ingested.kind === 'closed' });
  const attachedTo = batch.attachedTo;
  await condition(allHandlersFinished);
  return { ...report, pagesFailed: batch.pagesFailed, ...(attachedTo === null ? {} : { attachedTo }) };

  async function ingestOrAttach() {
    const { workflowId, runId } = workflowInfo();
    const { replaces } = before ?? {};
    let sha256 = before?.sha256 ?? null;
    let order = before?.order ?? orderOf(input);
    if (before?.workflowId !== undefined) batch.attach(before.workflowId);
    for (const nextWait = growingWait(LOOKS); ;) {
      const found: IngestResult = await ingestBatch({ ...input, sha256, workflowId, runId, order, replaces });
      if (found.kind !== 'attached') return found;
      sha256 = found.sha256;
      order = 'none';
      batch.attach(found.workflowId);
      requireNothingAsked(batch.pendingActions, found.workflowId);
      if (historyIsLong())
        await continueAsNew<typeof invoiceBatch>(input, { sha256, workflowId: found.workflowId, order });
      await sleep(nextWait(), { summary: 'another run has this file: looking again' });
    }
  }
}

/** Returns who ordered this start. Only a night starts a batch as its child; if a person resets that child, it gets a new run id. */
function orderOf({ resumed }: BatchInput): StartOrder {
  const { parent, runId, firstExecutionRunId } = workflowInfo();
  if (parent === undefined || runId !== firstExecutionRunId) return resumed === true ? 'none' : 'person';
  return resumed === true ? 'none' : 'drop';
}

/** Fails the run if an operator has already ordered something: another run has the file, and only that run can carry out the order. */
function requireNothingAsked(actions: readonly NotedAction[], workflowId: string): void {
  if (actions.length === 0) return;
  const what = actions.map((action) => action.what).join(', ');
  throw ApplicationFailure.nonRetryable(
    `Another run has this file and goes on as before: ${what} was not done. Send it to the workflow ${workflowId}.`,
    'batch-running',
  );
}
