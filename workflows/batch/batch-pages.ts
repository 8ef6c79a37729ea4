import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  log,
  ParentClosePolicy,
  sleep,
  startChild,
  workflowInfo,
  type ChildWorkflowHandle,
} from '@temporalio/workflow';
import type { PageSpan, RunningBatch } from '../../activities/batch/running-batch.ts';
import { pageAttributes } from './batch-details.ts';
import type { BatchControl } from './batch-control.ts';
import { invoicePage } from '../invoice-page.ts';
import { growingWait } from '../wait-at-most.ts';
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

/** A page of an earlier run that was just terminated may still exist, so its start is repeated after 1, 2, 4 … 30 s. */
const START_RETRIES = { firstMs: 1_000, longestMs: 30_000 };
const START_TRIES = 20;

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
      let known = batch.controlVersion;
      const child = await patiently(pageId, () => {
        known = batch.controlVersion;
        return startPage(span);
      });
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

  function startPage(span: PageSpan): Promise<Page> {
    const { ledgerId, batchId, fencingToken, run, before, settings, desk } = ingested;
    const input = { ...span, ledgerId, batchId, fencingToken, run, before, settings, control: batch.control() };
    return startChild(invoicePage, {
      workflowId: pageWorkflowId(batchId, span.page),
      args: [input],
      parentClosePolicy: ParentClosePolicy.TERMINATE,
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

type Page = ChildWorkflowHandle<typeof invoicePage>;

async function patiently(pageId: string, start: () => Promise<Page>): Promise<Page> {
  const nextWait = growingWait(START_RETRIES);
  for (let tries = 1; ; tries += 1) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries >= START_TRIES) throw error;
      if (tries === 1) await end(pageId);
      await sleep(nextWait(), { summary: 'the same page of an earlier run is still ending' });
    }
  }
}

/** Cancels a page of a run that a person reset; pages of other ended runs were terminated. It cannot write any more, because this run has the claim. */
async function end(pageId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(pageId).cancel();
  } catch {
    // The page has ended meanwhile.
  }
}
