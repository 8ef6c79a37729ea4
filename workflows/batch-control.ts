import { ApplicationFailure, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { RunningBatch } from '../activities/running-batch.ts';
import { batchDetails } from './batch-details.ts';
import {
  cancelRemainingUpdate,
  outageOverSignal,
  pageSentSignal,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryInvoicesUpdate,
  waitingSignal,
  type BatchProgress,
  type PageControl,
  type RetryRequestInput,
} from './messages.ts';
import { requireRetryRequest } from './retry-input.ts';

/** What a run of a batch knows about itself, and the operator's handles on it. */
export interface BatchControl {
  readonly paused: boolean;
  readonly cancelled: boolean;
  readonly pagesFailed: number;
  readonly attachedTo: string | null;
  /** Pages whose last invoice is sent. */
  readonly sentPages: ReadonlySet<number>;
  /** Rises with every pause, resume or cancel: the pages are then told. */
  readonly controlVersion: number;
  control(): PageControl;
  /** Operators asked for invoices to be sent again, and no round has taken that up yet. */
  readonly retryWaiting: boolean;
  takeRetries(): readonly RetryRequestInput[];
  begin(batch: RunningBatch): void;
  attach(workflowId: string): void;
  phase(phase: BatchProgress['phase']): void;
  pageDone(page: number, outcome: { failed: boolean }): void;
  waitFor(page: number, reason: string | null): void;
}

/** Registers every handler before the first await; all of them are synchronous. */
export function followBatch(): BatchControl {
  const sentPages = new Set<number>();
  const donePages = new Set<number>();
  const waiting = new Map<number, string>();
  let progress: BatchProgress = {
    batchId: null,
    phase: 'reading',
    paused: false,
    cancelled: false,
    invoices: 0,
    pages: 0,
    pagesSent: 0,
    pagesDone: 0,
    pagesFailed: 0,
    waitingFor: null,
  };
  let controlVersion = 0;
  let attachedTo: string | null = null;
  let outageOver = false;
  let retries: RetryRequestInput[] = [];

  function change(next: Partial<BatchProgress>): void {
    progress = {
      ...progress,
      ...next,
      pagesSent: sentPages.size,
      pagesDone: donePages.size,
      waitingFor: firstOf(waiting),
    };
    setCurrentDetails(batchDetails(progress));
  }

  function operate(next: Partial<BatchProgress>, answer: string): string {
    controlVersion += 1;
    change(next);
    return answer;
  }

  setHandler(progressQuery, () => progress, {
    description: '(no input) Where this batch stands: phase, pages, what it waits for.',
  });
  setHandler(
    pauseUpdate,
    () => operate({ paused: true }, 'Paused: slices in flight end, nothing new is sent until resume.'),
    {
      validator(input) {
        requireOwner(attachedTo);
        requireReason(input);
      },
      description:
        '{"reason": "…"} Stop sending after the slices in flight; waiting for answers goes on. The reason is kept in history: no names, no references.',
    },
  );
  setHandler(resumeUpdate, () => operate({ paused: false }, 'Resumed.'), {
    validator: () => requireOwner(attachedTo),
    description: '(no input) Go on sending after a pause.',
  });
  setHandler(
    cancelRemainingUpdate,
    () =>
      operate(
        { cancelled: true, paused: false },
        'Cancelled: what is not sent will be held; what is sent is waited for.',
      ),
    {
      validator(input) {
        requireOwner(attachedTo);
        requireReason(input);
      },
      description:
        '{"reason": "…"} Send nothing more; unsent invoices become held. Cannot be undone in this run. The reason is kept in history: no names, no references.',
    },
  );
  setHandler(
    retryInvoicesUpdate,
    (request) => {
      retries.push(request);
      return 'Noted: they go again when the pages that run now have ended. The report will say what became of them.';
    },
    {
      validator: (request) => {
        requireOwner(attachedTo);
        requireRetryRequest(request);
        if (progress.phase === 'reporting' || progress.phase === 'done') throw refusedUpdate(TOO_LATE);
      },
      description:
        '{"states": ["failed"], "reason": "…"} or {"rows": [7], "reason": "…"} Send failed, rejected or held invoices again, unknown ones by row. Rows, never references, and no names in the reason: history keeps them.',
    },
  );
  setHandler(
    pageSentSignal,
    ({ page }) => {
      sentPages.add(page);
      change({});
    },
    { description: '(internal) A page has sent its last invoice.' },
  );
  setHandler(
    outageOverSignal,
    () => {
      outageOver = true;
      controlVersion += 1;
    },
    { description: '(internal) A page has waited for the service for as long as it may.' },
  );
  setHandler(waitingSignal, ({ page, reason }) => waitFor(page, reason), {
    description: '(internal) What a page waits for.',
  });

  function waitFor(page: number, reason: string | null): void {
    if (reason === null) waiting.delete(page);
    else waiting.set(page, reason);
    change({});
  }

  return {
    get paused() {
      return progress.paused;
    },
    get cancelled() {
      return progress.cancelled;
    },
    get pagesFailed() {
      return progress.pagesFailed;
    },
    get attachedTo() {
      return attachedTo;
    },
    get controlVersion() {
      return controlVersion;
    },
    sentPages,
    get retryWaiting() {
      return retries.length > 0;
    },
    takeRetries() {
      const taken = retries;
      retries = [];
      return taken;
    },
    control: () => ({ paused: progress.paused, cancelled: progress.cancelled, outageOver }),
    begin(batch) {
      attachedTo = null;
      change({ batchId: batch.batchId, invoices: batch.invoices, pages: batch.pages.length, phase: 'merchants' });
    },
    attach(workflowId) {
      attachedTo = workflowId;
      change({ phase: 'attached' });
    },
    phase: (phase) => change({ phase }),
    pageDone(page, { failed }) {
      sentPages.add(page);
      donePages.add(page);
      waiting.delete(page);
      change({ pagesFailed: progress.pagesFailed + (failed ? 1 : 0) });
    },
    waitFor,
  };
}

function requireReason(input: { reason: string } | null | undefined): void {
  if (typeof input === 'object' && input !== null && typeof input.reason === 'string' && input.reason.trim() !== '')
    return;
  throw refusedUpdate('A reason is needed: {"reason": "why"}');
}

/** A run that only waits for another one has nothing to operate. */
function requireOwner(attachedTo: string | null): void {
  if (attachedTo === null) return;
  throw refusedUpdate(`This run only waits for another one, which has the same file. Use the workflow ${attachedTo}.`);
}

const TOO_LATE =
  'This run is writing its report. Start the workflow retryInvoices with the batch id when it has ended.';

/** The UI prints the stack of a rejected update, with our source paths: of no use to an operator. */
function refusedUpdate(message: string): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(message, 'input-invalid');
  delete failure.stack;
  return failure;
}

function firstOf(waiting: ReadonlyMap<number, string>): string | null {
  for (const reason of waiting.values()) return reason;
  return null;
}
