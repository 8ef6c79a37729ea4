import { createSemaphore } from '../../src/concurrency/semaphore.ts';
import { LONGEST_SLICE_MS } from '../../src/contract/longest-slice.ts';
import { LONGEST_PROBE_MS } from '../../src/domain/circuit-reasons.ts';
import { holdUnsentBefore } from '../batch/hold-unsent-before.ts';
import type { ActivityDeps } from '../deps.ts';
import type { SendableInvoice } from '../../src/domain/ports/ledger/sending-ledger.ts';
import { attemptOver } from '../attempt-over.ts';
import { eachInTurn } from '../each-in-turn.ts';
import { createKeyDelays } from './key-delays.ts';
import { takeRandom } from '../take-random.ts';
import { createCircuitBreaker, type Waiting } from './circuit-breaker.ts';
import { createFailureWatches } from './budgets/failure-watch.ts';
import { ANSWERS_UNREADABLE, createFirstAnswers } from './first-answers.ts';
import { createForgottenMerchants, type ForgottenMerchants } from './merchants.ts';
import { canHaveBytes } from './freeze-bodies.ts';
import { withinRetention } from './retention-window.ts';
import type { SliceInput, SliceResult } from './slice.ts';
import type { SendingPermit } from './sending-permission.ts';
import { SliceSender, type ProcessParts, type SliceParts, type WaitingInvoice } from './slice-sender.ts';
import { createStoredErrors } from './stored-errors.ts';

/**
 * An error that stays the same for half of the send time is no passing outage; the invoice then gets its reason before
 * that time is spent.
 */
const STORED_ERROR_SHARE = 2;

interface Shared extends ProcessParts {
  readonly failureWatch: ReturnType<typeof createFailureWatches>;
  readonly forgottenMerchants: ForgottenMerchants;
}

/**
 * The sending of slices: what is to be sent is read, its bytes are frozen in the ledger portion by portion, it is POSTed, and every answer
 * is recorded as it comes.
 *
 * When sending stops, and for whom:
 *
 * | cause | stops | until | file |
 * |---|---|---|---|
 * | an operator pauses or cancels; another run or attempt holds the claim | the slice at once | the workflow hands it out again | `sending-permission.ts` |
 * | the service lets nobody in, or gives no answer 20 times in a row | every slice of every worker | a probe succeeds | `circuit-breaker.ts` |
 * | the first answers cannot be read by the service profile | every slice of every worker | a probe can be read | `first-answers.ts` |
 * | refusals cannot be read while others are created | every slice of every worker | a probe can be read | `unread-refusals.ts` |
 * | several keys get the same id | every slice of every worker | Lote starts again | `first-answers.ts`, `sending-permission.ts` |
 * | the words of the profile contradict each other | every slice of every worker | Lote starts again | `contradiction-stop.ts`, `sending-permission.ts` |
 * | 403 to one merchant while others pass | that merchant; what is not sent is held | the file is dropped again | `forbidden-run.ts` |
 * | 403 to everybody | every slice, as above | a probe succeeds | `forbidden-run.ts` |
 * | the same error for one key again and again | that invoice, which becomes unknown | an operator decides | `stored-errors.ts` |
 * | the first POST is older than the retention window | that invoice, which becomes unknown | an operator decides | `retention-window.ts` |
 * | more refusals and failures than LOTE_FAILURE_BUDGET | the batch; the rest is held | the file is dropped again | `budgets/failure-budget.ts` |
 * | more repeats than `retry.repeatsPerInvoice` | the batch; the rest is held | the file is dropped again | `budgets/retry-budget.ts` |
 * | the first invoices of a batch are refused or fail | the batch; the rest is held | the file is dropped again | `judge-canary.ts` |
 * | a longer Retry-After than 2 s | the page | that time is over | `send-invoice.ts` |
 * | a longer Retry-After than 2 s for one key | that invoice | that time is over | `key-delays.ts` |
 */
export function createSubmitSlice({ ledger, service, now, settings, watch }: ActivityDeps) {
  const concurrency = createSemaphore(settings.maxConcurrency);
  const shared: Shared = {
    circuit: createCircuitBreaker({ ledger, baseUrl: service.baseUrl, now }),
    storedErrors: createStoredErrors({ spanMs: settings.sendMs / STORED_ERROR_SHARE }),
    concurrency,
    firstAnswers: createFirstAnswers(concurrency, settings.maxConcurrency, (message) => watch.unreadRefusal(message)),
    keyDelays: createKeyDelays(),
    failureWatch: createFailureWatches(),
    forgottenMerchants: createForgottenMerchants(),
  };
  return (deps: ActivityDeps, input: SliceInput): Promise<SliceResult> => submitSlice(deps, shared, input);
}

/** Sends a slice for as long as this process may send for the batch. */
async function submitSlice(deps: ActivityDeps, shared: Shared, input: SliceInput): Promise<SliceResult> {
  const { batchId, run } = input;
  const permit = deps.permission.request({ batchId, run, lastsMs: LONGEST_SLICE_MS, over: attemptOver() });
  const failures = shared.failureWatch(deps, input);
  try {
    if (!(await permit.confirm())) return await nothingHandedOut(deps, input, untilStart(permit));
    await holdUnsentBefore(deps, { batchId, fencingToken: input.fencingToken });
    const began = deps.now();
    const slice = await sendSlice(deps, { ...shared, permit, failures }, input);
    // A process that stood still tried nothing: a slice starts nothing after this.
    return { triedMs: Math.min(Math.max(0, deps.now() - began), LONGEST_SLICE_MS), ...slice };
  } finally {
    failures.leave();
    permit.close();
  }
}

/** What a page waits for that may not send: a new start, if the service is stopped for good; null: its batch is stopped. */
function untilStart(permit: SendingPermit): Waiting | null {
  const stop = permit.stoppedBecause();
  return stop === null ? null : { reason: stop.code, probeAfterMs: LONGEST_PROBE_MS };
}

/** To hand invoices out is written down as a try: what may not be sent is not handed out. */
async function nothingHandedOut(
  deps: ActivityDeps,
  { batchId, page }: SliceInput,
  waiting: Waiting | null,
): Promise<SliceResult> {
  const { unsent } = await deps.ledger.pageProgress(batchId, page);
  return { accepted: 0, left: unsent, stop: false, waiting: unsent === 0 ? null : waiting };
}

type Order = (invoices: readonly SendableInvoice[]) => readonly SendableInvoice[];

/** One invoice that always meets trouble must not go first each time. */
const fewestTriesFirst: Order = (invoices) => invoices.toSorted((a, b) => a.attempts - b.attempts);

/**
 * Where no answer can be read, each new invoice may be created: the probe is one that was tried. Otherwise its merchant is drawn by lot, and after it the
 * merchants go in turn: where the service has trouble with one merchant alone, neither the probe nor a row of answers without success is that merchant's
 * each time.
 */
function orderOfProbe({ random }: ActivityDeps, { circuit }: SliceParts): Order {
  if (circuit.refusedBecause()?.code === ANSWERS_UNREADABLE)
    return (invoices) => invoices.toSorted((a, b) => b.attempts - a.attempts);
  return (invoices) => {
    const inTurn = eachInTurn(fewestTriesFirst(invoices), merchantOf);
    const merchants = new Set(inTurn.map(merchantOf));
    const [drawn] = takeRandom([...merchants], 1, random);
    const first = inTurn.findIndex((one) => merchantOf(one) === drawn);
    return first <= 0 ? inTurn : [...inTurn.slice(first), ...inTurn.slice(0, first)];
  };
}

function merchantOf({ invoice }: SendableInvoice): string {
  return invoice.merchant.nif;
}

/** One pass over a slice: handed out, frozen, sent, and what did not go put back. */
async function sendSlice(
  deps: ActivityDeps,
  parts: SliceParts & Pick<Shared, 'forgottenMerchants'>,
  input: SliceInput,
): Promise<SliceResult> {
  const { batchId, from, to } = input;
  const entry = await parts.circuit.enter();
  if (entry.kind === 'refused') return nothingHandedOut(deps, input, entry.waiting);
  const probing = entry.kind === 'probe';
  const handedOut = await withinRetention(deps, await deps.ledger.sendable(batchId, from, to));
  const inOrder = probing ? orderOfProbe(deps, parts) : fewestTriesFirst;
  const now = deps.now();
  const sendable = handedOut.filter(canHaveBytes);
  const { due, notYet } = dueNow(parts, sendable, now);
  const until = now + LONGEST_SLICE_MS;
  const sender = new SliceSender(deps, parts, { input, until, sendable: inOrder(due), notYet, isProbing: probing });
  const slice = await sender.send();
  // The merchants of a batch are known before its pages begin, but for those that were forgotten since.
  const forgotten = handedOut.length - sendable.length;
  if (forgotten === 0 || slice.stop || slice.waiting !== null) return slice;
  return { ...slice, left: slice.left + forgotten, waiting: await parts.forgottenMerchants(deps, input) };
}

/** What an operator has released is `staged`, and goes whatever was said of its key before. */
function dueNow({ keyDelays }: SliceParts, invoices: readonly SendableInvoice[], now: number) {
  const due: SendableInvoice[] = [];
  const notYet: WaitingInvoice[] = [];
  for (const invoice of invoices) {
    const { idempotencyKey, state } = invoice;
    const reason = state === 'sending' ? keyDelays.reasonToWait(idempotencyKey, now) : null;
    if (reason === null) due.push(invoice);
    else notYet.push({ invoice, reason });
  }
  return { due, notYet };
}
