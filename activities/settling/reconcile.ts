import { noteChangedFiles } from '../nightly/nightly.ts';
import { pollDocuments, TROUBLE_IN_A_ROW, type PolledDocuments } from './poll-statuses.ts';
import type { OwnedWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import type { ReconciliationResult } from '../../src/domain/messages/messages.ts';
import { attemptOver, requireRunningWorker } from '../failure.ts';
import { eachOf } from '../../src/platform/concurrency.ts';
import { permitOfGeneration, type SendingPermit } from '../sending/sending-permission.ts';
import { refusedRepeat, judgeEarlier, distrustIds } from '../sending/earlier-key.ts';
import { RetentionWindow } from '../sending/retention-window.ts';
import { isServerError } from '../sending/stored-errors.ts';
import type { CreateAnswer, DeparturePermit } from '../../src/domain/records/service-answers.ts';
import type { RepeatInvoice } from '../../src/ledger/operations/reconciling.ts';
import type { SendOutcome } from '../../src/ledger/sending/record-answers.ts';

interface ReconcileInput extends OwnedWork {
  /** If false, each invoice waits half of the age that it had at its last try. */
  readonly all: boolean;
}

type RepeatedUnknown = Pick<
  ReconciliationResult,
  'repeated' | 'found' | 'stopped' | 'serviceAway' | 'profileFoundWrong'
>;

/** Number of invoices that are taken and repeated together. Until their repeats end, no other run can take them. */
const REPEATS_AT_ONCE = 50;

/**
 * Repeats `unknown` invoices of closed batches: same key, same bytes, inside the retention window. Applies events that
 * a crash left unapplied.
 * @throws ApplicationFailure `worker-stops` when the worker stops before all of them were repeated
 */
export async function repeatUnknown(deps: ActivityDeps, input: ReconcileInput): Promise<RepeatedUnknown> {
  const { all } = input;
  const { application, ledger, settings } = deps;
  await ledger.applyMissedEvents();
  const over = attemptOver();
  const leftUnknown = await ledger.batchesLeftUnknown(application);
  const stopped = leftUnknown.filter(({ isStopped }) => isStopped).map(({ batchId }) => batchId);
  const window = new RetentionWindow(deps);
  await endRepeats(deps, window);
  let repeated = 0;
  let found = 0;
  let troubles = 0;
  let last: number | null = 0;
  while (last !== null && troubles < TROUBLE_IN_A_ROW) {
    // Comes before the take: after STALE_REPEAT_MS another run may take the invoices, or an operator may give them a new key.
    const permit = deps.permission.request({ lastsMs: LEAVES_WITHIN_MS, over });
    try {
      if (!(await permit.confirm())) break;
      last = await repeatPortion(permit, last);
    } finally {
      permit.close();
    }
  }
  const profileFoundWrong = (await deps.calibration.stopped()) !== null;
  const serviceAway = profileFoundWrong || troubles >= TROUBLE_IN_A_ROW;
  if (!serviceAway) requireRunningWorker(over);
  return { repeated, found, stopped, serviceAway, ...(profileFoundWrong && { profileFoundWrong: true as const }) };

  /** Returns the id of the last invoice; null if there were no more. */
  async function repeatPortion(permit: SendingPermit, afterInvoiceId: number): Promise<number | null> {
    const takenAt = deps.now();
    const taken = await ledger.takeUnknown({
      application,
      now: takenAt,
      retentionMs: settings.retry.retentionMs,
      staleMs: STALE_REPEAT_MS,
      all,
      refusalIsProof: settings.retry.refusedRepeatIsProof,
      ...{ afterInvoiceId, limit: REPEATS_AT_ONCE },
    });
    if (taken.length === 0) return null;
    await deps.noteSends(taken);
    await eachOf(taken, settings.maxConcurrency, async (invoice) => {
      const answer = await repeatOne(deps, { window, takenAt, permit }, invoice);
      if (answer === 'not-sent') return;
      repeated += 1;
      if (answer === 'found') found += 1;
      troubles = answer === 'trouble' ? troubles + 1 : 0;
    });
    return Math.max(...taken.map(({ invoiceId }) => invoiceId));
  }
}

/** Ends expired repeats, so that a reader does not wait for them. */
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

/** Repeats one of the invoices that were taken together. */
async function repeatOne(
  deps: ActivityDeps,
  { window, takenAt, permit: ofTake }: { window: RetentionWindow; takenAt: number; permit: DeparturePermit },
  invoice: RepeatInvoice,
): Promise<'found' | 'nothing' | 'trouble' | 'not-sent'> {
  const sentAt = deps.now();
  const { invoiceId, generation, mayExistSince } = invoice;
  const permit = window.permit(mayExistSince, ofTake);
  // The repeats of other invoices of the same take may have needed much time.
  const answer: CreateAnswer = (await permit.confirm())
    ? await deps.service.createInvoice(invoice.body, invoice.idempotencyKey, {
        permit: permitOfGeneration(deps, invoice, permit),
      })
    : { kind: 'not-permitted' };
  if (answer.kind === 'not-permitted') {
    const unsent = { invoiceId, generation, attempts: 0 };
    if (window.isOver(mayExistSince)) {
      const outcome = window.outcomeOf(mayExistSince);
      // Marks the reports first: after a crash between the two writes, they would never be marked. By this machine's
      // clock the window may stay open for hours; until it ends, such an invoice is taken each time, and reported so.
      const { code, message } = outcome.reason;
      if (code !== invoice.reason.code || message !== invoice.reason.message)
        await deps.ledger.markReasonsChanged([invoiceId]);
      await deps.ledger.recordSends([{ ...unsent, sentAt, outcome }]);
    } else if (ofTake.withdrawn.aborted) {
      // Restores the invoice as it was before, so that another attempt takes it at once.
      const outcome = { kind: 'unknown', reason: invoice.reason } as const;
      await deps.ledger.recordSends([{ ...unsent, sentAt: invoice.lastTriedAt, outcome }]);
    }
    // In other cases, an earlier document was issued meanwhile, or the repeat came too late and a later reconciliation takes the invoice.
    return 'not-sent';
  }
  const answeredAt = deps.now();
  const verdict = await judgeEarlier(deps, invoice, { answer, mayExist: true });
  const { outcome, generation: answered = generation } = verdict ?? {
    outcome: outcomeOf(deps, answer, { invoice, sentAt }),
  };
  const sent = { invoiceId, generation: answered, attempts: 1, sentAt, answeredAt, takenAt };
  const idsTaken = await deps.ledger.recordSends([{ ...sent, outcome }]);
  if (idsTaken > 0) await distrustIds(deps, idsTaken);
  if (answer.kind === 'created') return 'found';
  // An error kept under one key says nothing about the service, and must not keep the other invoices from their turn.
  const ofThisKey = invoice.reason.code === 'stored-error' && isServerError(answer);
  return answer.kind === 'refused' || answer.kind === 'key-mismatch' || ofThisKey ? 'nothing' : 'trouble';
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
    case 'not-now':
    case 'access-denied':
      return { kind: 'unknown', reason };
  }
}

/** Polls every document of closed batches that has no final word. Invoices that are pending for longer than the settle time become `unsettled`. */
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

/** Returns closed batches whose report differs from the ledger, or was never written. */
export async function outdatedReports(deps: ActivityDeps): Promise<readonly string[]> {
  await noteChangedFiles(deps);
  const outdated = await deps.ledger.outdatedReports(deps.application);
  return [...outdated, ...(await missingReports(deps))];
}

/** Skips open runs, because a run writes its own report. */
async function missingReports({ ledger, runs, application }: ActivityDeps): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { batchId, workflowId, runId } of await ledger.unreportedBatches(application)) {
    if (!(await runs.isOpen(workflowId, runId))) missing.push(batchId);
  }
  return missing;
}

/** Longer than the repeats of one take can need, so a repeat that is older was ended by a crash. */
const STALE_REPEAT_MS = 10 * 60_000;

/** A repeat may leave for this long after the take. No other run can take its invoice then, with room for the exchange and for differing clocks. */
const LEAVES_WITHIN_MS = STALE_REPEAT_MS - 2 * 60_000;
