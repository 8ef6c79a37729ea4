import type { Reason } from '../../src/domain/invoice.ts';
import type { CreateAnswer, DeparturePermit } from '../../src/domain/ports/invoicing-service.ts';
import type { SendOutcome } from '../../src/domain/ports/ledger/sending-ledger.ts';
import type { RepeatInvoice } from '../../src/domain/ports/ledger/reconciling-ledger.ts';
import { LoteError } from '../../src/domain/errors.ts';
import { CANCELLED_UNANSWERED, STOPPED_MAYBE_SENT } from '../../src/domain/retry-decision.ts';
import { holdUnsentBefore } from '../batch/hold-unsent-before.ts';
import { pollDocuments, TROUBLE_IN_A_ROW, type PolledDocuments } from './poll-documents.ts';
import { repeatPermits, STALE_REPEAT_MS } from './repeat-permits.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, requireRunningWorker } from '../attempt-over.ts';
import { eachOf } from '../../src/concurrency/each-of.ts';
import { permitOfGeneration } from '../sending/later-generation.ts';
import { refusedRepeat } from '../sending/refused-repeat.ts';
import { openTries } from '../sending/open-tries.ts';
import { retentionWindow, type RetentionWindow } from '../sending/retention-window.ts';
import { isServerError } from '../sending/stored-errors.ts';

export interface ReconcileInput {
  readonly ledgerId?: string | undefined;
  /** False: each invoice waits half of the age that it had at its last try. */
  readonly all: boolean;
  /** Batches of which nothing is repeated this time; left out: none. */
  readonly exceptBatches?: readonly string[];
}

export interface RepeatedUnknown {
  readonly ledgerId: string;
  readonly repeated: number;
  readonly found: number;
  /** The service does not answer, or is not asked: the rest waits for the next time. */
  readonly serviceAway: boolean;
  /** As in `ReconciliationResult`. */
  readonly profileFoundWrong?: true;
  /** As in `OperatorLinks`. */
  readonly language?: string;
}

/** Taken and repeated together; what is taken is out of reach of others for that long. */
const REPEATS_AT_ONCE = 50;

/**
 * Repeats `unknown` invoices of closed batches: same key, same bytes, inside the retention window. Applies events that
 * a crash left unapplied.
 * @throws ApplicationFailure `worker-stops` when the worker stops before all of them were repeated
 */
export async function repeatUnknown(deps: ActivityDeps, input: ReconcileInput): Promise<RepeatedUnknown> {
  const { all } = input;
  const { application, ledger, settings, speech } = deps;
  await ledger.applyMissedEvents();
  const over = attemptOver();
  const exceptBatches = [...(input.exceptBatches ?? []), ...(await holdUnsent(deps))];
  const permits = repeatPermits(deps, over);
  const window = retentionWindow(deps);
  await endRepeats(deps, window);
  let repeated = 0;
  let found = 0;
  let troubles = 0;
  for (let afterInvoiceId = 0; troubles < TROUBLE_IN_A_ROW && (await permits.goesOn());) {
    const takenAt = deps.now();
    const permit = permits.ofTake(takenAt);
    const taken = await ledger.takeUnknown({
      application,
      now: takenAt,
      retentionMs: settings.retry.retentionMs,
      staleMs: STALE_REPEAT_MS,
      all,
      refusalIsProof: settings.retry.refusedRepeatIsProof,
      ...{ afterInvoiceId, limit: REPEATS_AT_ONCE, exceptBatches },
    });
    if (taken.length === 0) break;
    afterInvoiceId = Math.max(...taken.map(({ invoiceId }) => invoiceId));
    await eachOf(taken, settings.maxConcurrency, async (invoice) => {
      // What does not go on is put back as it was.
      await permits.goesOn();
      const answer = await repeatOne(deps, { window, takenAt, permit }, invoice);
      if (answer === 'not-sent') return;
      repeated += 1;
      if (answer === 'found') found += 1;
      troubles = answer === 'trouble' ? troubles + 1 : 0;
    });
  }
  const serviceAway = permits.isStopped() || troubles >= TROUBLE_IN_A_ROW;
  if (!serviceAway) requireRunningWorker(over);
  const foundWrong = permits.isStopped() ? { profileFoundWrong: true as const } : {};
  return { ledgerId: ledger.id, repeated, found, serviceAway, ...foundWrong, language: speech.locale };
}

/** Nothing repeats them any more, and who reads of one must not wait for it. */
async function endRepeats(
  { application, ledger, settings, now, latestNow, log }: ActivityDeps,
  window: RetentionWindow,
): Promise<void> {
  const frozenUntil = latestNow() - settings.retry.retentionMs;
  const { reason } = window.outcomeOf(frozenUntil);
  const { message: messageAhead } = window.outcomeOf(Number.MAX_SAFE_INTEGER).reason;
  const invoices = await ledger.endRepeats({ application, now: now(), frozenUntil, reason, messageAhead });
  if (invoices > 0)
    log.warn('the service may have forgotten the keys of unknown invoices: only an operator goes on', { invoices });
}

/**
 * In a restored ledger a batch that was closed at the time of the copy may have gone on since: what its lost report calls refused or not sent may have been
 * corrected. Returns the batches whose lost report cannot be read: they wait, and no others.
 */
async function holdUnsent(deps: ActivityDeps): Promise<readonly string[]> {
  const unreadable: string[] = [];
  for (const batchId of await deps.ledger.batchesLeftUnknown(deps.application)) {
    try {
      // Nobody holds the claim of a closed batch.
      await holdUnsentBefore(deps, { batchId, fencingToken: undefined });
    } catch (error) {
      if (!(error instanceof LoteError) || error.code !== 'folder-unusable') throw error;
      deps.log.error('what a batch left unknown is not repeated', { batchId, err: error });
      unreadable.push(batchId);
    }
  }
  return unreadable;
}

/** Invoices that were taken together, to be repeated. */
interface Take {
  readonly takenAt: number;
  readonly permit: DeparturePermit;
  readonly window: RetentionWindow;
}

async function repeatOne(
  deps: ActivityDeps,
  { window, takenAt, permit: ofTake }: Take,
  invoice: RepeatInvoice,
): Promise<'found' | 'nothing' | 'trouble' | 'not-sent'> {
  const sentAt = deps.now();
  const { invoiceId, generation, mayExistSince } = invoice;
  const permit = window.permit(mayExistSince, ofTake);
  const signal = window.signal(mayExistSince);
  // It was taken together with others, whose answers may have taken their time; this process may have stood still
  // since.
  const answer: CreateAnswer = permit.isValid()
    ? await deps.service.createInvoice(invoice.body, invoice.idempotencyKey, {
        signal,
        permit: permitOfGeneration(deps, invoice, permit),
        firstUsedAt: mayExistSince,
      })
    : { kind: 'not-permitted' };
  if (answer.kind === 'not-permitted') {
    const unsent = { invoiceId, generation, attempts: 0 };
    if (window.isOver(mayExistSince)) {
      const outcome = lateOutcome(window, invoice);
      // First, because after a crash between the two nobody would. By this machine's clock the window may be open for hours: what says so already is
      // taken each time, and its report says it, too.
      if (!isSameReason(outcome.reason, invoice.reason)) await deps.ledger.markReasonsChanged([invoiceId]);
      await deps.ledger.recordSends([{ ...unsent, sentAt, outcome }]);
    } else if (ofTake.withdrawn.aborted) {
      // As it was before it was taken, so that another attempt takes it at once.
      const outcome = { kind: 'unknown', reason: invoice.reason } as const;
      await deps.ledger.recordSends([{ ...unsent, sentAt: invoice.lastTriedAt, outcome }]);
    }
    // Else it stays as it was taken, and a reconciliation takes it up when that is too old; or an earlier document of it has been issued meanwhile.
    return 'not-sent';
  }
  const answeredAt = deps.now();
  const outcome = outcomeOf(deps, answer, { invoice, sentAt });
  // An invoice that stays unknown keeps its reason; the try has what this POST was answered.
  const tried =
    answer.kind === 'created' || outcome.kind !== 'unknown' ? outcome : { ...outcome, reason: answer.reason };
  const tries = openTries(tried, { sentAt, answeredAt });
  await deps.ledger.recordSends([{ invoiceId, generation, attempts: 1, sentAt, answeredAt, outcome, tries, takenAt }]);
  if (answer.kind === 'created') return 'found';
  // An error that is kept under one key says nothing of the service: it must not keep the others from their turn.
  const ofThisKey = invoice.reason.code === 'stored-error' && isServerError(answer);
  return answer.kind === 'refused' || answer.kind === 'key-mismatch' || ofThisKey ? 'nothing' : 'trouble';
}

/**
 * Its window ended before its repeat was sent. What may never have been sent still waits for an operator: by its reason code no schedule POSTs it.
 */
function lateOutcome(
  window: RetentionWindow,
  { reason, mayExistSince }: RepeatInvoice,
): ReturnType<RetentionWindow['outcomeOf']> {
  const over = window.outcomeOf(mayExistSince);
  if (reason.code !== CANCELLED_UNANSWERED) return over;
  const { code } = reason;
  return { ...over, reason: { code, message: STOPPED_MAYBE_SENT + over.reason.message } };
}

function isSameReason(one: Reason, other: Reason): boolean {
  return one.code === other.code && one.message === other.message;
}

function outcomeOf(
  deps: ActivityDeps,
  answer: Exclude<CreateAnswer, { kind: 'not-permitted' }>,
  { invoice, sentAt }: { readonly invoice: RepeatInvoice; readonly sentAt: number },
): SendOutcome {
  const { reason, lastTriedAt } = invoice;
  switch (answer.kind) {
    case 'created':
      return { kind: 'accepted', serviceId: answer.serviceId };
    case 'refused':
      return refusedRepeat(deps.settings.retry, { reason: answer.reason, sentAt, lastTriedAt });
    case 'key-mismatch':
      return { kind: 'unknown', reason: answer.reason };
    case 'lost':
      // Its operator had it repeated, and that may have created it: from now on it is like any other.
      return { kind: 'unknown', reason: reason.code === CANCELLED_UNANSWERED ? answer.reason : reason };
    case 'not-now':
    case 'access-denied':
      return { kind: 'unknown', reason };
  }
}

/**
 * Polls every document of closed batches that has no final word. Invoices that are pending for longer than the settle
 * time become `unsettled`.
 */
export async function pollOpenDocuments(deps: ActivityDeps, { all }: ReconcileInput): Promise<PolledDocuments> {
  const { application } = deps;
  const now = deps.now();
  const polled = await pollDocuments(deps, (afterInvoiceId, limit) =>
    deps.ledger.openDocuments({ application, now, all, afterInvoiceId, limit }),
  );
  const until = deps.now();
  await deps.ledger.expirePending({ application, acceptedBefore: until - deps.settings.settleMs, now: until });
  return polled;
}

/** Closed batches whose report no longer says what the ledger says, or was never written. */
export async function outdatedReports(deps: ActivityDeps): Promise<readonly string[]> {
  const outdated = await deps.ledger.outdatedReports(deps.application);
  return [...outdated, ...(await missingReports(deps))];
}

/** A run that is still open writes its report itself. */
async function missingReports({ ledger, runs, application }: ActivityDeps): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { batchId, workflowId, runId } of await ledger.unreportedBatches(application)) {
    if ((await runs.endedForMs(workflowId, runId)) !== null) missing.push(batchId);
  }
  return missing;
}
