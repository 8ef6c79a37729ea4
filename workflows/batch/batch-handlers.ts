import { log, setHandler } from '@temporalio/workflow';
import {
  cancelRemainingUpdate,
  confirmTotalUpdate,
  operatedSignal,
  outageOverSignal,
  pageSentSignal,
  pageStoppedSignal,
  pageTriedSignal,
  pauseUpdate,
  problemsQuery,
  progressQuery,
  resumeUpdate,
  retryInvoicesUpdate,
  settleNowUpdate,
  waitingSignal,
  type BatchProblems,
  type BatchProgress,
  type ActorInput,
  type ConfirmTotalInput,
  type OperatedInput,
  type ReasonInput,
  type RetryRequestInput,
  type BatchSnapshot,
} from '../../src/contract/messages.ts';
import { refusedUpdate } from '../refused-update.ts';
import { actorOf, hasForm, isOrdinal, isText, onlyOf } from '../typed-by-hand.ts';
import { requireRetryRequest, withActor } from './retry-input.ts';

/** What somebody did to the batch as a whole, for the audit. */
export interface OperatorAction {
  readonly what: 'pause' | 'resume' | 'cancel-remaining' | 'settle-now' | 'confirm-total';
  /** Undefined: none is asked for. */
  readonly why?: string;
  readonly who?: string | undefined;
}

/** What the handlers read and set in motion. */
export interface BatchHandles {
  progress(): BatchProgress;
  snapshot(): BatchSnapshot | null;
  readonly attachedTo: string | null;
  /** True when every process that sends knows; a promise while the ledger is being written. */
  operate(next: Partial<BatchProgress>, action: OperatorAction): true | Promise<boolean>;
  settleNow(action: OperatorAction): void;
  readonly totalConfirmed: boolean;
  confirmTotal(action: OperatorAction): void;
  retry(request: RetryRequestInput): void;
  pageSent(page: number): void;
  pageTried(page: number): void;
  pageStopped(): void;
  outageOver(): void;
  /** `language`: as in `OperatorLinks`; left out: it stays as it is. */
  waitFor(page: number, reason: string | null, language?: string): void;
}

/** Each description begins with the input's shape: it is all that the Temporal UI shows beside the empty box. */
export function registerBatchHandlers(batch: BatchHandles): void {
  registerQueries(batch);
  registerUpdates(batch);
  registerSignals(batch);
}

function registerQueries(batch: BatchHandles): void {
  setHandler(progressQuery, () => batch.progress(), {
    description:
      '(no input) Where this batch stands: phase, pages, invoices by state, net by currency, what it waits for.',
  });
  setHandler(problemsQuery, () => problemsOf(batch.progress(), batch.snapshot()), {
    description:
      '(no input) Invoices that are not confirmed as issued, by state and reason, with the first row numbers of each. References and all rows stand in the report.',
  });
}

function registerUpdates(batch: BatchHandles): void {
  handlePause(batch);
  handleResume(batch);
  handleCancelRemaining(batch);
  handleSettleNow(batch);
  handleConfirmTotal(batch);
  handleRetry(batch);
}

function handlePause(batch: BatchHandles): void {
  setHandler(
    pauseUpdate,
    (input) => {
      const action = { what: 'pause', why: input.reason, who: actorOf(input) } as const;
      const notified = batch.operate({ paused: true }, action);
      return answer('Paused: what is on the wire ends, nothing new is sent until resume.', notified);
    },
    {
      validator(input) {
        requireRunning(batch);
        requireReason(input);
      },
      description:
        '{"reason": "…"} Stop sending at once; waiting for answers goes on. The reason is kept in history: no names, no references.',
    },
  );
}

function handleResume(batch: BatchHandles): void {
  setHandler<string, [ActorInput?], typeof resumeUpdate>(
    resumeUpdate,
    (input) => {
      return answer('Resumed.', batch.operate({ paused: false }, { what: 'resume', who: actorOf(input) }));
    },
    {
      validator() {
        requireRunning(batch);
        if (!batch.progress().paused) throw refusedUpdate('This batch is not paused: there is nothing to resume.');
      },
      description: '(no input) Go on sending after a pause.',
    },
  );
}

function handleCancelRemaining(batch: BatchHandles): void {
  setHandler(
    cancelRemainingUpdate,
    (input) => {
      const action = { what: 'cancel-remaining', why: input.reason, who: actorOf(input) } as const;
      const notified = batch.operate({ cancelled: true, paused: false }, action);
      return answer('Cancelled: what is not sent will be held; what is sent is waited for.', notified);
    },
    {
      validator(input) {
        requireRunning(batch);
        requireReason(input);
      },
      description:
        '{"reason": "…"} Send nothing more; unsent invoices become held. Cannot be undone in this run. The reason is kept in history: no names, no references.',
    },
  );
}

function handleSettleNow(batch: BatchHandles): void {
  setHandler<string, [ActorInput?], typeof settleNowUpdate>(
    settleNowUpdate,
    (input) => {
      batch.settleNow({ what: 'settle-now', who: actorOf(input) });
      return 'Asking: the service is asked (GET) for every invoice that it accepted and has not called issued or failed. What it calls unfinished is waited for as before.';
    },
    {
      validator() {
        requireRunning(batch);
        if (batch.progress().pagesSent === 0)
          throw refusedUpdate('No page has sent its last invoice yet: there is nothing to ask for. Try again later.');
      },
      description:
        '(no input) Ask the service (GET) now for every invoice without a final word, instead of waiting for its webhook. Nothing is sent again.',
    },
  );
}

function handleConfirmTotal(batch: BatchHandles): void {
  setHandler(
    confirmTotalUpdate,
    (input) => {
      batch.confirmTotal({ what: 'confirm-total', why: input.reason, who: actorOf(input) });
      return 'Confirmed: the batch is sent now.';
    },
    {
      validator(input) {
        requireRunning(batch);
        requireReason(input);
        requireItsTotal(batch, input);
      },
      description:
        '{"invoices": 120, "reason": "…"} Send a batch that is held because its total is unusual. The number is that of its invoices, as "Current Details" shows it. The reason is kept in history: no names, no references.',
    },
  );
}

function handleRetry(batch: BatchHandles): void {
  setHandler(
    retryInvoicesUpdate,
    (request) => {
      batch.retry(withActor(request));
      return 'Noted: they go again when the pages that run now have ended. The report will say what became of them.';
    },
    {
      validator(request) {
        requireRunning(batch);
        requireRead(batch);
        requireRetryRequest(request);
      },
      description:
        '{"states": ["failed"], "reason": "…"} or {"rows": [7], "reason": "…"} Send failed, rejected or held invoices again, unknown ones by row. Rows, never references, and no names in the reason: history keeps them.',
    },
  );
}

/** Runs of an earlier version answer at once, as they did then. */
function answer(text: string, notified: true | Promise<boolean>): string | Promise<string> {
  if (notified === true) return text;
  return notified.then((known) => (known ? text : `${text} ${NOT_TAKEN}`));
}

const NOT_TAKEN =
  'The ledger has not taken it yet (it cannot be reached, or has a later word): what is being sent just now may go on, at most for a minute from when it can be reached.';

function registerSignals(batch: BatchHandles): void {
  const pageSent = onlyOf(pageSentSignal.name, isOfPage, ({ page }) => batch.pageSent(page));
  setHandler(pageSentSignal, pageSent, {
    description: '(internal) {"page": 1} A page has sent its last invoice.',
  });
  const pageTried = onlyOf(pageTriedSignal.name, isOfPage, ({ page }) => batch.pageTried(page));
  setHandler(pageTriedSignal, pageTried, {
    description: '(internal) {"page": 1} Each invoice of a page was tried; some are sent again.',
  });
  setHandler(pageStoppedSignal, () => batch.pageStopped(), {
    description: '(internal) {"page": 1} A page is paused, and its slices have ended.',
  });
  setHandler(outageOverSignal, () => batch.outageOver(), {
    description: '(internal, no input) A page has waited for the service for as long as it may.',
  });
  const waiting = onlyOf(waitingSignal.name, isWaiting, ({ page, reason, language }) =>
    batch.waitFor(page, reason, language),
  );
  setHandler(waitingSignal, waiting, {
    description: '(internal) {"page": 1, "reason": null} What a page waits for.',
  });
  setHandler(
    operatedSignal,
    onlyOf(operatedSignal.name, isOperated, (input) => operated(batch, input)),
    {
      description:
        '(internal) {"what": "pause", "why": "…", "who": null} What was asked of a run that only waits for this one.',
    },
  );
}

const WANTED: Readonly<Record<OperatedInput['what'], Partial<BatchProgress>>> = {
  pause: { paused: true },
  resume: { paused: false },
  'cancel-remaining': { cancelled: true, paused: false },
};

/** As the update of the same name: it was accepted by the run that passes it on. A batch that is over sends nothing more in any case. */
async function operated(batch: BatchHandles, { what, why, who }: OperatedInput): Promise<void> {
  const { phase } = batch.progress();
  if (batch.attachedTo !== null || phase === 'reporting' || phase === 'done')
    log.warn('what another run was asked came too late', { what });
  else await batch.operate(WANTED[what], { what, why, who: who ?? undefined });
}

function problemsOf({ batchId, asOf }: BatchProgress, snapshot: BatchSnapshot | null): BatchProblems {
  return { batchId, asOf, invoices: snapshot?.problems ?? 0, groups: snapshot?.problemGroups ?? [] };
}

/**
 * A run that only waits for another one, or that is over, has nothing to operate: nothing may be promised and
 * forgotten.
 */
function requireRunning(batch: BatchHandles): void {
  const { phase, batchId } = batch.progress();
  const owner = batch.attachedTo;
  if (owner !== null)
    throw refusedUpdate(`This run only waits for another one, which has the same file. Use the workflow ${owner}.`);
  if (phase !== 'reporting' && phase !== 'done') return;
  const again = `{"batch": "${batchId ?? '…'}"}`;
  throw refusedUpdate(
    `This run is writing its report: nothing of it can be changed any more. When it has ended, start the workflow retryInvoices with ${again}`,
  );
}

/** The run may find that the file has nothing to send, or that another one has it: then nobody would take the retry up. */
function requireRead(batch: BatchHandles): void {
  if (batch.progress().phase !== 'reading') return;
  throw refusedUpdate(
    'The file is still being read, and nothing of it was sent by this run: nothing can go again. Try again when it is read.',
  );
}

function isOfPage(value: unknown): value is { page: number } {
  return hasForm<{ page: number }>(value, { page: isOrdinal });
}

function isWaiting(value: unknown): value is Waiting {
  return hasForm<Waiting>(value, {
    // An activity has a number of its own below zero, where no page stands.
    page: Number.isSafeInteger,
    reason: (reason) => reason === null || isText(reason),
    language: (language) => language === undefined || language === null || isText(language),
  });
}

function isOperated(value: unknown): value is OperatedInput {
  return hasForm<OperatedInput>(value, {
    what: (what) => typeof what === 'string' && Object.hasOwn(WANTED, what),
    why: isText,
    who: (who) => who === null || isText(who),
  });
}

interface Waiting {
  page: number;
  reason: string | null;
  language?: string;
}

function requireReason(input: ReasonInput | null | undefined): void {
  if (typeof input === 'object' && input !== null && typeof input.reason === 'string' && input.reason.trim() !== '')
    return;
  throw refusedUpdate('A reason is needed: {"reason": "why"}');
}

function requireItsTotal(batch: BatchHandles, { invoices }: ConfirmTotalInput): void {
  const { unusual } = batch.progress();
  if (unusual === undefined || batch.totalConfirmed)
    throw refusedUpdate('This batch does not wait for its total to be confirmed: there is nothing to do.');
  if (invoices === unusual.invoices) return;
  throw refusedUpdate(
    `The number of invoices to confirm is that of the file, ${unusual.invoices}; found ${JSON.stringify(invoices) ?? 'nothing'}. Nothing was sent. Compare the total with its source: {"invoices": ${unusual.invoices}, "reason": "why"}`,
  );
}
