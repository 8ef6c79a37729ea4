import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
  getExternalWorkflowHandle,
  log,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { IngestResult } from '../activities/batch/ingest.ts';
import * as options from './activity-options.ts';
import type { BatchControl } from './batch/batch-control.ts';
import { followBatch } from './batch/batch-handlers.ts';
import { pinToBuild } from './pin-build.ts';
import { historyIsLong } from './wait-at-most.ts';
import { requireBatchInput } from './typed-by-hand.ts';
import {
  type BatchInput,
  type BatchResult,
  type EarlierRun,
  operatedSignal,
  type OperatedInput,
} from '../src/domain/messages/messages.ts';
import { recordActions, reportBatch, sendAndClose } from './batch/run-batch.ts';
import type { StartOrder } from '../src/domain/records/batch-record.ts';

const { ingestBatch } = proxyActivities<Activities>({ ...options.INGEST, summary: 'reading the file' });

/** While another run holds the file, looks again after 1, 2, 4 … 30 s. */
const FIRST_REFRESH_MS = 1_000;
const LONGEST_REFRESH_MS = 30_000;

/**
 * Runs one file of invoices, from its first byte to its report. The table of contents of Lote is:
 * read the file -> ensure its merchants -> send and settle its pages, failed ones again where the profile says so -> report.
 * `run-batch.ts` has the middle; `retry-invoices.ts` does the same for a finished batch. A run that waits for another one
 * continues in further runs when its history becomes long: `before` tells them what it waits for.
 */
export async function invoiceBatch(input: BatchInput, before?: EarlierRun): Promise<BatchResult> {
  const batch = followBatch(before);
  requireBatchInput(input);
  await pinToBuild(() => [input, { sha256: null, ...before, asked: batch.asked } satisfies EarlierRun]);

  const ingested = await ingestOrAttach();
  if (ingested.kind === 'running') {
    batch.begin(ingested);
    await sendAndClose(batch, ingested);
  } else {
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
    for (
      let wait = before?.workflowId === undefined ? FIRST_REFRESH_MS : LONGEST_REFRESH_MS;
      ;
      wait = Math.min(wait * 2, LONGEST_REFRESH_MS)
    ) {
      const found: IngestResult = await ingestBatch({ ...input, sha256, workflowId, runId, order, replaces });
      if (found.kind !== 'attached') return found;
      sha256 = found.sha256;
      order = 'none';
      batch.attach(found.workflowId, found.language);
      await passOnActions(batch, found.workflowId);
      if (historyIsLong())
        await continueAsNew<typeof invoiceBatch>(input, { sha256, workflowId: found.workflowId, order });
      await sleep(wait, { summary: 'another run has this file: looking again' });
    }
  }
}

/** Only a night starts a batch as its child, and only a person resets that child. */
function orderOf({ resumed }: BatchInput): StartOrder {
  const { parent, runId, firstExecutionRunId } = workflowInfo();
  if (parent === undefined || runId !== firstExecutionRunId) return resumed === true ? 'none' : 'person';
  return resumed === true ? 'none' : 'drop';
}

/**
 * Passes on what operators ordered while the file was read, before this run knew that another run has it: that run pauses or
 * cancels, because this one sends nothing. If the other run has ended, this run keeps the orders, because it may get the file next.
 */
async function passOnActions(batch: BatchControl, workflowId: string): Promise<void> {
  const actions = [...batch.pendingActions];
  if (actions.length === 0) return;
  const owner = getExternalWorkflowHandle(workflowId);
  try {
    for (const { what, why, who } of actions)
      if (isPassedOn(what)) await owner.signal(operatedSignal, { what, why, who });
    batch.pendingActions.splice(0, actions.length);
  } catch {
    log.warn('what this run was asked could not be passed on: the run that has the file has ended', { workflowId });
  }
}

/** A run accepts no other order while it reads its file. */
function isPassedOn(what: string): what is OperatedInput['what'] {
  return what === 'pause' || what === 'resume' || what === 'cancel-remaining';
}
