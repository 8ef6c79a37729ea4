import { Context } from '@temporalio/activity';
import {
  FIRST_INVOICES,
  firstInvoicesWaitMs,
  mayStillDecide,
  SMALLEST_BATCH_WITH_FIRST,
  judgeFirstInvoices,
  type AnswerCounts,
} from '../../src/domain/answer-counts.ts';
import { countAnswers } from './budgets.ts';
import { pollStatuses } from '../settling/poll-statuses.ts';
import type { BatchWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver, workerStops } from '../failure.ts';
import type { BatchRecord } from '../../src/domain/records/batch-record.ts';
import type { UnsentInvoice } from '../../src/ledger/sending/sending-control.ts';

/** The invoices of a large batch that Lote sends before the rest: a range of ordinals on one page, unsent when the round began. */
export interface FirstInvoices {
  readonly page: number;
  readonly from: number;
  readonly to: number;
  /** How long Lote waits for their final words. */
  readonly waitMs: number;
}

export interface FirstInvoicesInput extends BatchWork {
  readonly first: FirstInvoices;
}

/** Webhooks write to the ledger. Lote reads it again after an eighth of the elapsed wait, within these bounds. */
const REREAD_SHARE = 1 / 8;
const FIRST_REREAD_MS = 25;
const LONGEST_REREAD_MS = 500;
/** Webhooks may be lost, so Lote polls the invoices after this share of the wait, and again each time the elapsed time has doubled. */
const FIRST_POLL_SHARE = 1 / 8;
/** Time limit of the polling at the end of the wait. */
const LONGEST_POLLING_MS = 10_000;

/** Lote takes this many invoices before and after the place where two merchants meet. */
const HALF = FIRST_INVOICES / 2;

/**
 * Selects the first invoices of a batch; undefined if the batch is small or nothing is left to send. A refused merchant must not
 * stop the others, so if the first invoices all have one merchant, Lote takes those around the place where the next merchant begins.
 */
export async function firstInvoicesOf(
  { ledger, settings }: Pick<ActivityDeps, 'ledger' | 'settings'>,
  { batchId, invoices, pageSize }: BatchRecord,
): Promise<FirstInvoices | undefined> {
  if (invoices < SMALLEST_BATCH_WITH_FIRST) return undefined;
  const unsent = await ledger.firstUnsent(batchId, { limit: FIRST_INVOICES });
  const [first] = unsent;
  if (first === undefined) return undefined;
  const pageOf = ({ ordinal }: UnsentInvoice): number => Math.ceil(ordinal / pageSize);
  const isMixed = unsent.some((one) => one.merchantNif !== first.merchantNif && pageOf(one) === pageOf(first));
  const [other] = isMixed ? [] : await ledger.firstUnsent(batchId, { limit: 1, butOf: first.merchantNif });
  const start = other ?? first;
  const page = pageOf(start);
  const meeting = Math.max(start.ordinal - HALF, (page - 1) * pageSize + 1);
  const sample =
    other === undefined ? unsent : await ledger.firstUnsent(batchId, { limit: FIRST_INVOICES, from: meeting });
  const ordinals = sample.filter((one) => pageOf(one) === page).map(({ ordinal }) => ordinal);
  return {
    page,
    from: Math.min(...ordinals),
    to: Math.max(...ordinals),
    waitMs: firstInvoicesWaitMs(settings.settleMs),
  };
}

/**
 * Waits until the first invoices decide (one is issued, or none is left without a final word), or until the wait is over. A later
 * attempt of the activity waits only for the rest of the time. Both ends of a time span come from the same clock.
 */
export async function awaitFirstInvoices(deps: ActivityDeps, input: FirstInvoicesInput): Promise<void> {
  const { info } = Context.current();
  const { batchId, first } = input;
  const over = attemptOver();
  const spent = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
  const began = deps.now() - spent;
  let pollAt = Math.max(1, first.waitMs * FIRST_POLL_SHARE);
  while (pollAt < spent) pollAt *= 2;
  while (!over.aborted) {
    const waited = deps.now() - began;
    const isOver = waited >= first.waitMs;
    await confirmReported(deps, input);
    if (isOver || waited >= pollAt) {
      pollAt *= 2;
      await pollFirst(deps, input);
    }
    if (isOver || !mayStillDecide(await countAnswers(deps, { batchId, from: first.from, to: first.to }))) return;
    const reread = Math.round(Math.min(Math.max(waited * REREAD_SHARE, FIRST_REREAD_MS), LONGEST_REREAD_MS));
    const next = Math.ceil(Math.min(pollAt, first.waitMs)) - waited;
    await Context.current()
      .sleep(Math.max(Math.min(reread, next), 0))
      .catch(() => undefined);
  }
  throw workerStops();
}

/** Applies stored events and confirms reported failures by GET, because an event alone does not hold a batch. */
async function confirmReported(deps: ActivityDeps, input: FirstInvoicesInput): Promise<void> {
  const { batchId } = input;
  const { page } = input.first;
  const { reportedFailed } = await deps.ledger.pageProgress(batchId, page);
  if (reportedFailed === 0) return;
  const reported = await deps.ledger.unconfirmedFailures(batchId, page, FIRST_INVOICES);
  await pollStatuses(deps, reported, deps.now() + LONGEST_POLLING_MS);
}

/** Polls the invoices early; the planned polls stay unchanged. */
async function pollFirst(deps: ActivityDeps, input: FirstInvoicesInput): Promise<void> {
  const { batchId } = input;
  const { page, from, to } = input.first;
  const ofPage = await deps.ledger.pendingInvoices(batchId, page, deps.now() + 1, Number.MAX_SAFE_INTEGER);
  const pending = ofPage.filter(({ ordinal }) => ordinal >= from && ordinal <= to);
  await pollStatuses(deps, pending, deps.now() + LONGEST_POLLING_MS);
}

/**
 * Holds the rest of a batch if every first invoice was refused or failed later, because then the whole file is wrong.
 * If only some were, the failure budget decides. Returns true if it held invoices.
 */
export async function judgeCanary(deps: ActivityDeps, input: FirstInvoicesInput): Promise<boolean> {
  const { batchId, fencingToken, first } = input;
  await confirmReported(deps, input);
  const counts = await countAnswers(deps, { batchId, from: first.from, to: first.to });
  const verdict = judgeFirstInvoices(counts, deps.settings.failureBudget);
  if (verdict === 'go-on') return false;
  const { refused, failed } = counts;
  const message = `${sentenceOf(counts)} The rest was not sent: look at these invoices, then drop the file again, or use lote retry BATCH --state held.`;
  const reason = { code: `first-invoices-${verdict}`, message };
  const held = await deps.ledger.holdUnsent(batchId, { reason, now: deps.now(), fencingToken });
  const numbers = { batchId, refused, ...(failed > 0 ? { failed } : {}), held };
  deps.log.warn(`the first invoices of a batch were all ${verdict}`, numbers);
  return held > 0;
}

function sentenceOf({ refused, failed, accepted }: AnswerCounts): string {
  if (failed === 0) return `The service refused all of the first ${refused} invoices.`;
  return `The service refused ${refused} of the first ${refused + accepted} invoices and failed ${failed} of those it accepted; none was issued.`;
}
