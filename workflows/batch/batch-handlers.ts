import { defineUpdate, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  cancelRemainingUpdate,
  confirmTotalUpdate,
  outageOverSignal,
  pageSentSignal,
  pageStoppedSignal,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryInvoicesUpdate,
  settleNowUpdate,
  waitingSignal,
  type BatchProgress,
  type ActorInput,
  type AskedOfRun,
  type ConfirmTotalInput,
  type EarlierRun,
  type ReasonInput,
  type RetryRequestInput,
} from '../../src/domain/messages/messages.ts';
import { BatchControl } from './batch-control.ts';
import { actorOf, isFilled, onSignal, refusedUpdate, requireRetryRequest, withActor } from '../typed-by-hand.ts';

/** One update: its work and answer, its refusals, and its description in the Temporal UI. */
interface BatchUpdate<Input> {
  /** `at`: epoch milliseconds of the order. */
  does(batch: BatchControl, input: Input, at: number): string | Promise<string>;
  check?(batch: BatchControl, input: Input): void;
  /** Begins with the input's shape, because the Temporal UI shows nothing more beside the empty box. */
  readonly description: string;
}

/** The progress that each order sets. */
const WANTED: Readonly<Record<'pause' | 'resume' | 'cancel-remaining', Partial<BatchProgress>>> = {
  pause: { paused: true },
  resume: { paused: false },
  'cancel-remaining': { cancelled: true, paused: false },
};

type Words = { readonly reason?: string; readonly who?: unknown } | undefined;

/** Carries out an order. Returns the text, with a warning if the ledger has not taken the order yet. */
async function operate(
  batch: BatchControl,
  order: { readonly what: keyof typeof WANTED; readonly input: Words; readonly at: number },
  text: string,
): Promise<string> {
  const { what, input, at } = order;
  const isTaken = await batch.operate(WANTED[what], { what, why: input?.reason, who: actorOf(input), at });
  return isTaken ? text : `${text} ${NOT_TAKEN}`;
}

const NOT_TAKEN =
  'The ledger has not taken it yet (it cannot be reached, or has a later word): what is being sent just now may go on, at most for a minute from when it can be reached.';

const PAUSE: BatchUpdate<ReasonInput> = {
  does: (batch, input, at) =>
    operate(batch, { what: 'pause', input, at }, 'Paused: what is on the wire ends, nothing new is sent until resume.'),
  check: (_batch, input) => requireReason(input),
  description:
    '{"reason": "…"} Stop sending at once; waiting for answers goes on. The reason is kept in history: no names, no references.',
};

const RESUME: BatchUpdate<ActorInput | undefined> = {
  does: (batch, input, at) => operate(batch, { what: 'resume', input: { who: input?.who }, at }, 'Resumed.'),
  check(batch) {
    if (!batch.progress().paused) throw refusedUpdate('This batch is not paused: there is nothing to resume.');
  },
  description: '(no input) Go on sending after a pause.',
};

const CANCEL_REMAINING: BatchUpdate<ReasonInput> = {
  does: (batch, input, at) =>
    operate(
      batch,
      { what: 'cancel-remaining', input, at },
      'Cancelled: what is not sent will be held; what is sent is waited for.',
    ),
  check: (_batch, input) => requireReason(input),
  description:
    '{"reason": "…"} Send nothing more; unsent invoices become held. Cannot be undone in this run. The reason is kept in history: no names, no references.',
};

const SETTLE_NOW: BatchUpdate<ActorInput | undefined> = {
  does(batch, input, at) {
    batch.settleNow({ what: 'settle-now', who: actorOf(input), at });
    return 'Asking: the service is asked (GET) for every invoice that it accepted and has not called issued or failed. What it calls unfinished is waited for as before.';
  },
  check(batch) {
    if (batch.progress().pagesSent === 0)
      throw refusedUpdate('No page has sent its last invoice yet: there is nothing to ask for. Try again later.');
  },
  description:
    '(no input) Ask the service (GET) now for every invoice without a final word, instead of waiting for its webhook. Nothing is sent again.',
};

const CONFIRM_TOTAL: BatchUpdate<ConfirmTotalInput> = {
  does(batch, input, at) {
    batch.confirmTotal({ what: 'confirm-total', why: input.reason, who: actorOf(input), at });
    return 'Confirmed: the batch is sent now.';
  },
  check(batch, input) {
    requireReason(input);
    requireItsTotal(batch, input);
  },
  description:
    '{"invoices": 120, "reason": "…"} Send a batch that is held because its total is unusual. The number is that of its invoices, as "Current Details" shows it. The reason is kept in history: no names, no references.',
};

const RETRY_INVOICES: BatchUpdate<RetryRequestInput> = {
  does(batch, request) {
    batch.retries.push(withActor(request));
    return 'Noted: they go again when the pages that run now have ended. The report will say what became of them.';
  },
  check(batch, request) {
    requireRead(batch);
    requireRetryRequest(request);
  },
  description:
    '{"states": ["failed"], "reason": "…"} or {"rows": [7], "reason": "…"} Send failed, rejected or held invoices again, unknown ones by row. Rows, never references, and no names in the reason: history keeps them.',
};

const UPDATES: ReadonlyMap<string, BatchUpdate<never>> = new Map<string, BatchUpdate<never>>([
  [pauseUpdate.name, PAUSE],
  [resumeUpdate.name, RESUME],
  [cancelRemainingUpdate.name, CANCEL_REMAINING],
  [settleNowUpdate.name, SETTLE_NOW],
  [confirmTotalUpdate.name, CONFIRM_TOTAL],
  [retryInvoicesUpdate.name, RETRY_INVOICES],
]);

async function order(batch: BatchControl, { name, input, at }: AskedOfRun): Promise<string> {
  batch.asked.push({ name, input, at });
  return UPDATES.get(name)?.does(batch, input as never, at) ?? '';
}

/**
 * Registers every handler before the first await, and repeats the orders that the replaced runs accepted. A person may have typed `before`, so it is checked.
 */
export function followBatch(before?: EarlierRun): BatchControl {
  const batch = new BatchControl(before?.replaces?.[0] ?? workflowInfo().runId);
  // Comes first, so that older orders precede an update that came with the start, such as a resume: Temporal delivers it as soon as it has a handler.
  const asked = Array.isArray(before?.asked) ? (before.asked as readonly AskedOfRun[]) : [];
  for (const one of asked) if (UPDATES.has(one.name)) void order(batch, one);
  setHandler(progressQuery, () => batch.progress(), {
    description:
      '(no input) Where this batch stands: phase, pages, invoices by state, net by currency, what it waits for.',
  });
  for (const [name, { check, description }] of UPDATES)
    setHandler(defineUpdate<string, [unknown]>(name), (input) => order(batch, { name, input, at: Date.now() }), {
      validator(input) {
        requireRunning(batch);
        check?.(batch, input as never);
      },
      description,
    });
  registerSignals(batch);
  return batch;
}

function registerSignals(batch: BatchControl): void {
  const sent = '{"page": 1} A page has sent each invoice at least once; it may send some again.';
  onSignal(pageSentSignal, { page: 1 }, ({ page }) => batch.pageSent(page), sent);
  setHandler(pageStoppedSignal, () => void (batch.refreshWanted = true), {
    description: '(internal) {"page": 1} A page is paused, and its slices have ended.',
  });
  setHandler(outageOverSignal, () => batch.outageOver(), {
    description: '(internal, no input) A page has waited for the service for as long as it may.',
  });
  onSignal(
    waitingSignal,
    // An activity gives a negative number instead of the number of a page.
    { page: Number.MIN_SAFE_INTEGER, reason: null },
    ({ page, reason }) => batch.waitFor(page, reason),
    '{"page": 1, "reason": null} What a page waits for.',
  );
}

/** Refuses updates to a run that only waits for another one, or is over: such a run would accept and forget them. */
function requireRunning(batch: BatchControl): void {
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

/** Refuses a retry while the file is read: if this run finds nothing to send, no run would take the retry. */
function requireRead(batch: BatchControl): void {
  if (batch.progress().phase !== 'reading') return;
  throw refusedUpdate(
    'The file is still being read, and nothing of it was sent by this run: nothing can go again. Try again when it is read.',
  );
}

function requireReason(input: ReasonInput | null | undefined): void {
  if (!isFilled(input?.reason)) throw refusedUpdate('A reason is needed: {"reason": "why"}');
}

function requireItsTotal(batch: BatchControl, { invoices }: ConfirmTotalInput): void {
  const { unusual } = batch.progress();
  if (unusual === undefined || batch.totalConfirmed)
    throw refusedUpdate('This batch does not wait for its total to be confirmed: there is nothing to do.');
  if (invoices === unusual.invoices) return;
  throw refusedUpdate(
    `The number of invoices to confirm is that of the file, ${unusual.invoices}; found ${JSON.stringify(invoices) ?? 'nothing'}. Nothing was sent. Compare the total with its source: {"invoices": ${unusual.invoices}, "reason": "why"}`,
  );
}
