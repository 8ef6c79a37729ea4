import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { ActivityDeps } from '../deps.ts';
import { eachOf } from '../each-of.ts';
import { createCircuitBreaker, type CircuitBreaker, type Waiting } from './circuit-breaker.ts';
import { readBudget } from './failure-budget.ts';
import { createFailureWatches, type FailureWatch } from './failure-watch.ts';
import { holdForbiddenMerchants, REFUSED_ACCESS, refuseForbidden } from './forbidden-invoices.ts';
import { createForbiddenRun } from './forbidden-run.ts';
import { freezeBodies, putBack } from './freeze-bodies.ts';
import { retentionWindow, withinRetention } from './retention-window.ts';
import { holdOverRetries } from './retry-budget.ts';
import { sendInvoice, type Sent } from './send-invoice.ts';
import type { SendingPermit } from './sending-permission.ts';
import { createStoredErrors, type StoredErrors } from './stored-errors.ts';
import { sharedAnswer } from '../shared-answer.ts';
import { createSlots, type Release, type Slots } from '../slots.ts';
import type { AnswerCounts } from '../../src/domain/answer-counts.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { SendableInvoice, SendOutcome } from '../../src/domain/ports/ledger.ts';
import type { ClaimingRun } from '../../src/domain/ports/sending-control-ledger.ts';

export interface SliceInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly from: number;
  readonly to: number;
  /** The run that holds the batch's claim; left out by runs of an earlier version. */
  readonly run?: ClaimingRun | undefined;
  readonly fencingToken?: number | undefined;
  /** What the service had said of the batch when its round began; left out: nothing. */
  readonly before?: AnswerCounts | undefined;
}

export interface SliceResult {
  /** Accepted now. */
  readonly accepted: number;
  /** Still to be sent, by the same key and bytes. */
  readonly left: number;
  /** The rest of the batch is held: send nothing more. */
  readonly stop: boolean;
  /** For how long it could send; left out by workers of an earlier version. */
  readonly triedMs?: number;
  /** Trouble of the whole service: the page sleeps, and then asks again. */
  readonly waiting: Waiting | null;
}

/** Answers with a longer Retry-After than a slice may wait for are the page's to wait for. */
const SHORTEST_PAGE_WAIT_MS = 1_000;
/** A slice starts nothing new after this: its activity must end, and the ledger must be told, long before its time-out. */
const LONGEST_SLICE_MS = 60_000;
/** Refusals of a slice after which the budget is looked at for the first time, and then at each doubling: counting a batch is not free. */
const FIRST_BUDGET_LOOK = 16;
/** An error that stays the same for half of the send time is no passing outage; the invoice then gets its reason before that time is spent. */
const STORED_ERROR_SHARE = 2;
const NOT_ITS_TURN: Reason = { code: 'not-sent-yet', message: 'Not sent yet: other invoices went first.' };
const STOPPED: Reason = { code: 'sending-stopped', message: 'Not sent yet: the batch was stopped before its turn.' };

/** What all slices of one process share, so that trouble in a row is seen as such. */
interface Shared {
  readonly circuit: CircuitBreaker;
  readonly storedErrors: StoredErrors;
  /** Of all slices together, so that what waits for its turn can still be stopped when the door shuts. */
  readonly slots: Slots;
  readonly failureWatch: ReturnType<typeof createFailureWatches>;
}

/** What belongs to one slice. */
interface SliceParts {
  readonly permit: SendingPermit;
  readonly failures: FailureWatch;
}

/** The sending of slices. */
export function createSubmitSlice({ ledger, service, now, settings }: ActivityDeps) {
  const shared: Shared = {
    circuit: createCircuitBreaker({ ledger, baseUrl: service.baseUrl, now }),
    storedErrors: createStoredErrors({ spanMs: settings.sendMs / STORED_ERROR_SHARE }),
    slots: createSlots(settings.maxConcurrency),
    failureWatch: createFailureWatches(),
  };
  return (deps: ActivityDeps, input: SliceInput): Promise<SliceResult> => submitSlice(deps, shared, input);
}

/** Sends a slice for as long as this process may send for the batch. */
async function submitSlice(deps: ActivityDeps, shared: Shared, input: SliceInput): Promise<SliceResult> {
  const { batchId, run } = input;
  const permit = deps.permission.request({ batchId, run, lastsMs: LONGEST_SLICE_MS });
  const failures = shared.failureWatch(deps, input);
  try {
    if (!(await permit.confirm())) return await nothingHandedOut(deps, input, null);
    const began = deps.now();
    const slice = await sendSlice(deps, { ...shared, permit, failures }, input);
    // A process that stood still tried nothing: a slice starts nothing after this.
    return { ...slice, triedMs: Math.min(Math.max(0, deps.now() - began), LONGEST_SLICE_MS) };
  } finally {
    failures.leave();
    permit.close();
  }
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

/** Reads what is to be sent, freezes its bytes in the ledger, POSTs, and records every answer as it comes. */
async function sendSlice(
  deps: ActivityDeps,
  { circuit, storedErrors, slots, permit, failures }: Shared & SliceParts,
  input: SliceInput,
): Promise<SliceResult> {
  const { batchId, from, to } = input;
  const entry = await circuit.enter();
  if (entry.kind === 'closed') return nothingHandedOut(deps, input, entry.waiting);
  const probing = entry.kind === 'probe';
  // Fewest tries first: one invoice that always meets trouble must not be every probe.
  const handedOut = await withinRetention(deps, await deps.ledger.sendable(batchId, from, to));
  const sendable = handedOut.toSorted((a, b) => a.attempts - b.attempts);
  const bodies = await freezeBodies(deps, batchId, sendable);
  const toSend = sendable.filter(({ invoiceId }) => bodies.has(invoiceId));
  if (probing && toSend.length === 0) await circuit.giveBack();

  const { cancellationSignal } = Context.current();
  const until = deps.now() + LONGEST_SLICE_MS;
  const slice = { accepted: 0, left: 0, refused: 0, repeats: 0, retryAfterMs: 0, stop: false };
  const window = retentionWindow(deps);
  // With many stored errors at once, each would ask the same.
  const serviceLives = sharedAnswer(
    async () => (await deps.service.listMerchants(cancellationSignal)).kind !== 'unreadable',
  );
  const forbidden = createForbiddenRun(new Set(toSend.map(({ invoice }) => invoice.merchant.nif)).size);
  const idle: SendableInvoice[] = [];
  let nextLook = FIRST_BUDGET_LOOK;
  const probe = probing ? toSend[0] : undefined;
  if (probe !== undefined) await send(probe);
  await eachOf(toSend.slice(probe === undefined ? 0 : 1), deps.settings.maxConcurrency, send);
  // Behind a door that has shut meanwhile nobody can tell whose trouble the last 403s were.
  if (circuit.refusedBecause() === null) {
    const { refused, shut } = forbidden.end(slice.accepted);
    await refuse(refused);
    if (shut) await circuit.trip(REFUSED_ACCESS, deps.now());
  }
  slice.left += idle.length;
  const reason = circuit.refusedBecause() ?? (permit.withdrawn.aborted ? STOPPED : NOT_ITS_TURN);
  await putBack(deps, batchId, { idle, reason });
  if (circuit.refusedBecause() === null) await holdForbiddenMerchants(deps, input, forbidden.refusedMerchants());

  const overBudget = (slice.refused > 0 || failures.spent) && (await failures.hold());
  const stop = (await holdOverRetries(deps, input, slice.repeats)) || overBudget;
  return { accepted: slice.accepted, left: slice.left, stop, waiting: slice.left === 0 ? null : await waiting() };

  async function send(invoice: SendableInvoice): Promise<void> {
    if (halted(invoice)) return leave(invoice);
    const sent = await sendInvoice(
      {
        service: deps.service,
        random: deps.random,
        now: deps.now,
        admit: () => admit(invoice),
        pause: (ms) => sleep(ms, undefined, { signal: permit.withdrawn }).catch(() => undefined),
        accessDenied,
        stopped: () => circuit.refusedBecause() !== null,
        window,
        permit,
        storedErrors,
        serviceLives,
      },
      invoice,
      bodies.get(invoice.invoiceId) ?? '',
    );
    const { invoiceId, generation } = invoice;
    const { attempts, sentAt, answeredAt, outcome } = sent;
    if (invoice !== probe) slice.repeats += invoice.attempts === 0 ? Math.max(0, attempts - 1) : attempts;
    if (outcome === null) return leave(invoice);
    await deps.ledger.recordSends([{ invoiceId, generation, attempts, sentAt, answeredAt, outcome }]);
    await judge(invoice, { ...sent, outcome });
    await failures.look();
  }

  async function leave(invoice: SendableInvoice): Promise<void> {
    idle.push(invoice);
    if (invoice === probe) await circuit.giveBack();
  }

  function halted(invoice: SendableInvoice): boolean {
    if (permit.withdrawn.aborted || slice.stop || failures.spent || cancellationSignal.aborted || deps.now() > until)
      return true;
    return forbidden.isHeldBack(invoice) || (circuit.refusedBecause() !== null && invoice !== probe);
  }

  async function admit(invoice: SendableInvoice): Promise<Release | null> {
    const release = await slots.acquire();
    if (!halted(invoice)) return release;
    release();
    return null;
  }

  async function judge(invoice: SendableInvoice, sent: Sent & { readonly outcome: SendOutcome }): Promise<void> {
    slice.retryAfterMs = Math.max(slice.retryAfterMs, sent.retryAfterMs ?? 0);
    if (sent.outcome.kind === 'pending') slice.left += 1;
    if (sent.outcome.kind === 'accepted') slice.accepted += 1;
    if (sent.outcome.kind === 'rejected') await countRefusal();
    const { attempts, trouble, lastSentAt, answeredAt } = sent;
    if (attempts === 0) {
      // Its time was over before anything left, which says nothing of the service.
      if (invoice === probe) await circuit.giveBack();
      return;
    }
    if (trouble === null) {
      if (sent.outcome.kind === 'accepted') await refuse(forbidden.succeeded(invoice, lastSentAt));
      return circuit.succeeded(lastSentAt);
    }
    if (trouble.reason.code === REFUSED_ACCESS.code) {
      const isOpen = forbidden.forbidden(invoice, answeredAt) === 'shut' || circuit.refusedBecause() !== null;
      if (isOpen) await circuit.trip(REFUSED_ACCESS, lastSentAt);
      return;
    }
    // A probe behind a shut door reports back in any case.
    const counts = !trouble.own || circuit.refusedBecause() !== null;
    if (!trouble.shut && counts) await circuit.troubled(trouble.reason, lastSentAt);
  }

  /** A single 403 may be one merchant's; the run of them is judged answer by answer. */
  async function accessDenied(reason: Reason, sentAt: number): Promise<void> {
    if (reason.code !== REFUSED_ACCESS.code) await circuit.trip(reason, sentAt);
  }

  async function refuse(invoices: readonly SendableInvoice[]): Promise<void> {
    if (invoices.length === 0) return;
    await refuseForbidden(deps, invoices);
    slice.left -= invoices.length;
    for (let one = 0; one < invoices.length; one += 1) await countRefusal();
  }

  async function countRefusal(): Promise<void> {
    slice.refused += 1;
    if (slice.refused !== nextLook) return;
    nextLook *= 2;
    slice.stop ||= (await readBudget(deps, input)).spent;
  }

  async function waiting(): Promise<Waiting | null> {
    const asked = slice.retryAfterMs < SHORTEST_PAGE_WAIT_MS ? null : slice.retryAfterMs;
    const reason = circuit.refusedBecause();
    if (reason !== null) {
      const record = await deps.ledger.breaker(deps.service.baseUrl);
      const untilProbe = record === null ? 0 : record.probeAfter - deps.now();
      return { reason: reason.code, probeAfterMs: Math.max(untilProbe, asked ?? 0, SHORTEST_PAGE_WAIT_MS) };
    }
    return asked === null ? null : { reason: 'retry-after', probeAfterMs: asked };
  }
}
