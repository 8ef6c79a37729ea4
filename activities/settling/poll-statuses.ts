import { Context } from '@temporalio/activity';
import { eachOf } from '../../src/platform/concurrency.ts';
import type { BatchWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import type { ReconciliationResult } from '../../src/domain/messages/messages.ts';
import { attemptOver, requireRunningWorker } from '../failure.ts';
import type { StatusUpdate } from '../../src/ledger/settling/settling.ts';
import type { OpenDocument } from '../../src/ledger/settling/settling.ts';

interface PolledInvoice {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** As in `OpenDocument`; the default is null. */
  readonly failedEvent?: OpenDocument['failedEvent'];
  /** Number of planned polls that are due by now. */
  readonly asks?: number;
}

/** After this many polls in a row without an answer, the service counts as away. */
export const TROUBLE_IN_A_ROW = 10;
/** A GET without a readable answer does not count as a poll. At 30 % errors, one invoice in 100,000 has no readable answer after this many. */
const TRIES = 10;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Polls the invoices until `until` (epoch ms; null: until the service counts as away), as many at once as the profile allows, and records
 * each answer. Polls invoices without a readable answer again within seconds, unless the service answers nothing at all. Returns how many
 * invoices got an answer (`answered`) or none, however often they were polled (`unanswered`); how many have their final word now
 * (`finals`); and how many were not polled, because the time was over or the service is away (`skipped`, `isAway`).
 */
export async function pollStatuses(deps: ActivityDeps, invoices: readonly PolledInvoice[], until: number | null) {
  const counts = { answered: 0, unanswered: 0, finals: 0, skipped: 0, isAway: false };
  if (invoices.length === 0) return counts;
  if (await deps.calibration.isStopped()) return { ...counts, skipped: invoices.length };
  const over = attemptOver();
  const end = until ?? Infinity;
  let left: readonly PolledInvoice[] = invoices;
  let unread: StatusUpdate[] = [];
  for (let tries = 1, pause = FIRST_PAUSE_MS; ; tries += 1, pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    left = await pollOnce(left, tries === 1);
    const isVain = counts.isAway || (counts.answered === 0 && left.length >= TROUBLE_IN_A_ROW);
    if (left.length === 0 || isVain || tries === TRIES || deps.now() + pause > end) break;
    await Context.current()
      .sleep(pause)
      .catch(() => undefined);
  }
  // The service gives answers that the profile cannot read, and will not change them in a moment.
  if (unread.length > 0) await deps.ledger.recordStatus(unread);
  counts.unanswered = left.length - unread.length;
  return counts;

  /** Returns the invoices without a readable answer. */
  async function pollOnce(due: readonly PolledInvoice[], isFirst: boolean): Promise<readonly PolledInvoice[]> {
    const unanswered: PolledInvoice[] = [];
    let troubles = 0;
    unread = [];
    await eachOf(due, deps.settings.maxConcurrency, async (invoice) => {
      const isOver = counts.isAway || over.aborted || deps.now() > end || (await deps.calibration.isStopped());
      const update = isOver ? null : await pollOne(deps, invoice, over);
      if (isOver || (update === null && over.aborted)) {
        counts.skipped += 1;
        return;
      }
      troubles = update === null ? troubles + 1 : 0;
      // With `until`, the service does not count as away, because the trouble may be that of a few documents.
      counts.isAway ||= until === null && isFirst && troubles >= TROUBLE_IN_A_ROW;
      if (update === null || update.status === 'unreadable') {
        unanswered.push(invoice);
        if (update !== null) unread.push(update);
        return;
      }
      counts.answered += 1;
      await deps.ledger.recordStatus([update]);
      if (update.status === 'issued' || update.status === 'failed') counts.finals += 1;
    });
    return unanswered;
  }
}

type PollDeps = Pick<ActivityDeps, 'service' | 'now'> & {
  readonly calibration: Pick<ActivityDeps['calibration'], 'asked' | 'areFailuresProved'>;
};

/**
 * Polls one invoice. A reported failure stands if the GET repeats it. Once a GET has confirmed another failure, it also stands if the GET shows no
 * readable status. It does not stand if the answer may concern another invoice. Returns null if there is no answer now, or the signal was aborted.
 */
export async function pollOne(
  deps: PollDeps,
  invoice: PolledInvoice,
  signal?: AbortSignal,
): Promise<StatusUpdate | null> {
  const { failedEvent: event = null } = invoice;
  const answer = await deps.calibration.asked({
    serviceId: invoice.serviceId,
    answer: await deps.service.getInvoice(invoice.serviceId, signal),
    reported: event && { verdict: 'failed', hasReason: event.reason !== null },
  });
  if (answer.kind === 'not-now') return null;
  const status =
    answer.status === 'unreadable' ? await statusWithout(deps, answer.doubtful, event !== null) : answer.status;
  const unconfirmed = status === 'failed' && answer.status === 'unreadable';
  const { invoiceId, serviceId, asks } = invoice;
  // The answer gives the reason for a missing status, not for the failure; the ledger has that reason from the event.
  const reason = (unconfirmed ? null : answer.reason) ?? event?.reason ?? null;
  return {
    ...{ invoiceId, serviceId, status, reason, now: deps.now() },
    ...(unconfirmed && { unconfirmed }),
    ...(asks !== undefined && { asks }),
  };
}

/** The ledger takes an unreadable status as the confirmation of a failure that an event has reported. */
async function statusWithout(
  { calibration }: Pick<PollDeps, 'calibration'>,
  isDoubtful: boolean | undefined,
  isReported: boolean,
): Promise<StatusUpdate['status']> {
  if (isDoubtful === true || !(await calibration.areFailuresProved())) return 'processing';
  return isReported ? 'failed' : 'unreadable';
}

/** Numbers of documents that were polled, and of those that now have a final word. */
export type PolledDocuments = Pick<ReconciliationResult, 'asked' | 'settled' | 'serviceAway' | 'profileFoundWrong'>;

const DOCUMENTS_AT_ONCE = 500;

/**
 * Polls the documents that `next` lists, portion by portion in the order of their invoice ids.
 * @throws ApplicationFailure `worker-stops` when the worker stops before all of them were polled
 */
export async function pollDocuments(
  deps: ActivityDeps,
  next: (afterInvoiceId: number, limit: number) => Promise<readonly OpenDocument[]>,
): Promise<PolledDocuments> {
  const over = attemptOver();
  let asked = 0;
  let settled = 0;
  let isAway = false;
  for (let afterInvoiceId = 0; !isAway && !over.aborted;) {
    const documents = await next(afterInvoiceId, DOCUMENTS_AT_ONCE);
    const polled = await pollStatuses(deps, documents, null);
    asked += documents.length - polled.skipped;
    settled += polled.finals;
    isAway = polled.isAway;
    if (await deps.calibration.isStopped()) return { asked, settled, serviceAway: true, profileFoundWrong: true };
    const last = documents.at(-1);
    if (last === undefined) break;
    afterInvoiceId = last.invoiceId;
  }
  if (!isAway) requireRunningWorker(over);
  return { asked, settled, serviceAway: isAway };
}

/** Polls the invoices that an earlier run of the batch left `unsettled`, because the same file was started again. */
export async function pollUnsettled(deps: ActivityDeps, { batchId }: BatchWork): Promise<PolledDocuments> {
  return pollDocuments(deps, (afterInvoiceId, limit) =>
    deps.ledger.unsettledDocuments({ batchId, afterInvoiceId, limit }),
  );
}
