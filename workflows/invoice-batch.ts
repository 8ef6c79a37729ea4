import {
  allHandlersFinished,
  condition,
  continueAsNew,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { IngestResult } from '../activities/batch/ingest.ts';
import * as options from './activity-options.ts';
import { followBatch } from './batch/batch-control.ts';
import { historyIsLong } from './history-limit.ts';
import { requireBatchInput } from './batch/batch-input.ts';
import { notifyHeld, notifyPaused } from './batch/notify-nightly-run.ts';
import { passOnActions } from './batch/pass-on.ts';
import { reportBatch } from './batch/report-batch.ts';
import { recordActions } from './batch/batch-watch.ts';
import type { BatchInput, BatchResult } from '../src/contract/messages.ts';
import { sendAndClose } from './batch/run-batch.ts';

const { ingestBatch } = proxyActivities<Activities>({ ...options.INGEST, summary: 'reading the file' });

/** What a run without the claim waits for. */
interface AttachedRun {
  readonly sha256: string;
  /** Who holds the claim. */
  readonly workflowId: string;
}

/** Another run holds the same file: look again after 1, 2, 4 … 30 s. */
const FIRST_REFRESH_MS = 1_000;
const LONGEST_REFRESH_MS = 30_000;

/**
 * One file of invoices, from its first byte to its report. The table of contents of Lote:
 * read the file -> ensure its merchants -> send and settle its pages, failed ones again where the profile says so -> report.
 * `run-batch.ts` has the middle; `retry-invoices.ts` runs the same for invoices of a finished batch. A run that only waits for another one goes on
 * in further runs when its history becomes long: `attached` tells them what it waits for.
 */
export async function invoiceBatch(input: BatchInput, attached?: AttachedRun): Promise<BatchResult> {
  const batch = followBatch();
  requireBatchInput(input);

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
    let sha256 = attached?.sha256 ?? null;
    let notified = false;
    let nightKnows: string | null = null;
    if (attached !== undefined) batch.attach(attached.workflowId);
    for (
      let wait = attached === undefined ? FIRST_REFRESH_MS : LONGEST_REFRESH_MS;
      ;
      wait = Math.min(wait * 2, LONGEST_REFRESH_MS)
    ) {
      const found: IngestResult = await ingestBatch({ ...input, sha256, workflowId, runId });
      if (found.kind !== 'attached') return found;
      sha256 = found.sha256;
      batch.attach(found.workflowId, found.language);
      await passOnActions(batch, found.workflowId);
      if (found.unusual !== undefined && !notified) {
        notified = true;
        await notifyHeld(found.unusual.batchId, found.unusual);
      }
      nightKnows = await notifyPaused({ batchId: found.pausedBatch ?? null, isAllSent: false }, nightKnows);
      if (historyIsLong())
        await continueAsNew<typeof invoiceBatch>(input, { sha256: found.sha256, workflowId: found.workflowId });
      await sleep(wait, { summary: 'another run has this file: looking again' });
    }
  }
}
