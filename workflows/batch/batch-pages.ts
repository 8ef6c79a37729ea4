import { WorkflowIdReusePolicy } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import type { PageSpan, RunningBatch } from '../../activities/batch/running-batch.ts';
import { pageAttributes } from './batch-details.ts';
import type { BatchControl } from './batch-control.ts';
import { invoicePage } from '../invoice-page.ts';
import { controlSignal } from '../../src/domain/messages/messages.ts';
import { pageWorkflowId } from '../../src/domain/messages/batch-id.ts';

/**
 * Limits the pages that send, not those that wait: an engine that takes an hour per invoice must not slow the sending.
 * Four pages are 8,000 invoices under way. With more pages, each page would take longer, and would get more signals
 * about its settled invoices.
 */
const PAGES_SENDING = 4;
/** Every waiting page is a pending child workflow. Temporal allows 2,000 of them, and a worker keeps the state of each in its cache. */
const PAGES_RUNNING = 200;

/** Runs every page to its end. A failed page is counted, and does not stop the rest. */
export async function runPages(batch: BatchControl, ingested: RunningBatch): Promise<void> {
  const running = new Set<number>();
  const ends: Promise<void>[] = [];
  let open = true;
  batch.phase('sending');
  const notified = handled(notifyPages());

  for (const span of ingested.pages) {
    await condition(() => running.size < PAGES_RUNNING && sending() < PAGES_SENDING);
    running.add(span.page);
    ends.push(handled(runPage(span)));
  }
  batch.phase('waiting');
  await Promise.all(ends);
  open = false;
  await notified;

  function sending(): number {
    let count = 0;
    for (const page of running) if (!batch.sentPages.has(page)) count += 1;
    return count;
  }

  async function runPage(span: PageSpan): Promise<void> {
    try {
      const pageId = pageWorkflowId(ingested.batchId, span.page);
      const known = batch.controlVersion;
      const child = await startPage(span);
      // The input has the orders of the moment when the start was ordered; no signal could reach the page since then.
      if (batch.controlVersion !== known) await notify(pageId, batch);
      await child.result();
      batch.pageDone(span.page, { failed: false });
    } catch (error) {
      // If the batch itself is cancelled, its run ends. A page that a person cancelled alone counts as failed.
      if (CancellationScope.current().consideredCancelled) throw error;
      log.error('page failed', { page: span.page, workflowId: workflowInfo().workflowId });
      batch.pageDone(span.page, { failed: true });
    } finally {
      running.delete(span.page);
    }
  }

  function startPage(span: PageSpan) {
    const { ledgerId, batchId, fencingToken, run, before, settings, desk } = ingested;
    const input = { ...span, ledgerId, batchId, fencingToken, run, before, settings, control: batch.control() };
    return startChild(invoicePage, {
      workflowId: pageWorkflowId(batchId, span.page),
      args: [input],
      parentClosePolicy: ParentClosePolicy.TERMINATE,
      // A page of a run that a person reset may still be open. It cannot write any more, because this run has the claim.
      workflowIdReusePolicy: WorkflowIdReusePolicy.TERMINATE_IF_RUNNING,
      ...(desk.searchable ? { typedSearchAttributes: pageAttributes(batchId) } : {}),
      staticSummary: `page ${span.page}, invoices ${span.firstOrdinal} to ${span.lastOrdinal}`,
    });
  }

  /** Signals every change of pause or cancel to all running pages; a page that starts later gets it with its input. */
  async function notifyPages(): Promise<void> {
    for (let version = batch.controlVersion; open;) {
      await condition(() => !open || batch.controlVersion !== version);
      if (batch.controlVersion === version) continue;
      version = batch.controlVersion;
      await Promise.all([...running].map((page) => notify(pageWorkflowId(ingested.batchId, page), batch)));
    }
  }
}

async function notify(pageId: string, batch: BatchControl): Promise<void> {
  try {
    await getExternalWorkflowHandle(pageId).signal(controlSignal, batch.control());
  } catch {
    // The page has ended, so nothing of it is left to pause; or it has not started, and is notified when it has.
  }
}

/**
 * Marks a promise as handled. In a cancelled run these promises reject at different moments, and a rejection that is
 * not awaited yet would fail the task of the workflow, and each repetition of it.
 */
function handled(end: Promise<void>): Promise<void> {
  end.catch(() => undefined);
  return end;
}
