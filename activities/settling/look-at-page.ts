import { Context } from '@temporalio/activity';
import { createSemaphore } from '../../src/concurrency/semaphore.ts';
import { attemptOver } from '../attempt-over.ts';
import type { ActivityDeps } from '../deps.ts';
import { closePage, type CloseInput } from './close-page.ts';
import { isPollDue, reviewOf, type PageReview } from './settle.ts';

export interface LookInput extends CloseInput {
  /** How long final words are waited for; 0: not at all. */
  readonly waitMs: number;
  /** No other page waits until this one is sent, and soon the batch waits for its end; left out: false. */
  readonly isLate?: boolean;
}

/** What a page still waits for. */
export interface PageLook extends PageReview {
  /** Nothing: the page is closed. */
  readonly isClosed: boolean;
  /** Invoices are to be polled, or a failure is to be confirmed, by a review. */
  readonly isReviewDue: boolean;
}

/**
 * Webhooks write to the ledger, and what is open in the page is counted again from time to time. To count it for a page of 2,000 takes the database as
 * long as to settle thirty invoices, to read the page three times that.
 */
interface Pace {
  readonly shortestMs: number;
  readonly longestMs: number;
}

/** Nobody waits for the end of such a page: its place has been given to another one. */
const UNHURRIED: Pace = { shortestMs: 500, longestMs: 500 };
/**
 * The batch soon waits for the end of a late page. It is counted again when, by what was settled since the count before, nothing should be left; while
 * nothing is settled, after a third of what was waited already. Its final words come behind those of the pages before, and then all at once, so that the
 * first of them say little about the last.
 */
const LATE: Pace = { shortestMs: 50, longestMs: 250 };
const REREAD_SHARE = 1 / 3;

/**
 * Looks that wait at the same time in this process. Each takes one of its 40 workflow tasks: many small pages of a slow service would take them all, and
 * other batches, queries and operators' updates would wait for seconds. One more look does not wait; its page does, for a signal.
 */
const waits = createSemaphore(20);

/** Applies stored events of a page and counts what it waits for, without asking the service; closes it as soon as that is nothing. */
export async function lookAtPage(deps: ActivityDeps, input: LookInput): Promise<PageLook> {
  const over = attemptOver();
  const place = input.waitMs > 0 ? waits.tryAcquire() : null;
  if (place === null) return lookOnce(deps, input, over);
  try {
    return await (input.isLate === true ? lookLate(deps, input, over) : lookUnhurried(deps, input, over));
  } finally {
    place();
  }
}

async function lookUnhurried(deps: ActivityDeps, input: LookInput, over: AbortSignal): Promise<PageLook> {
  await waitWhileOpen(deps, { ...input, pace: UNHURRIED, open: null }, over);
  return lookOnce(deps, input, over);
}

async function lookLate(deps: ActivityDeps, input: LookInput, over: AbortSignal): Promise<PageLook> {
  const look = await lookOnce(deps, input, over);
  if (look.isClosed || look.isReviewDue || over.aborted) return look;
  await waitWhileOpen(deps, { ...input, pace: LATE, open: look.accepted + look.attached }, over);
  return lookOnce(deps, input, over);
}

/** Until no invoice of the page is waited for, or the time is over. `open` is what a look has just counted; null: none was taken. */
async function waitWhileOpen(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  { batchId, page, waitMs, pace, open }: LookInput & { readonly pace: Pace; readonly open: number | null },
  over: AbortSignal,
): Promise<void> {
  const began = now();
  let before: Seen | null = null;
  let seen: Seen | null = open === null ? null : { open, at: began };
  for (let waited = 0; waited < waitMs && seen?.open !== 0 && !over.aborted; waited = now() - began) {
    const next = settledInMs(before, seen) ?? waited * REREAD_SHARE;
    const pause = Math.min(Math.max(next, pace.shortestMs), pace.longestMs, waitMs - waited);
    await Context.current()
      .sleep(Math.round(pause))
      .catch(() => undefined);
    before = seen;
    seen = { open: await ledger.pageOpen(batchId, page), at: now() };
  }
}

interface Seen {
  /** Invoices that are waited for. */
  readonly open: number;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Until all are settled, at the pace since the look before; null: no pace is known. */
function settledInMs(before: Seen | null, seen: Seen | null): number | null {
  if (before === null || seen === null || seen.open >= before.open) return null;
  return (seen.open * (seen.at - before.at)) / (before.open - seen.open);
}

/** An attempt that is over closes nothing: it may have waited long for what it read. */
async function lookOnce(deps: ActivityDeps, input: LookInput, over: AbortSignal): Promise<PageLook> {
  const { batchId, page, settleMs } = input;
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const progress = await deps.ledger.pageProgress(batchId, page);
  const review = reviewOf(deps, progress, pace);
  const isClosed = review.accepted === 0 && review.attached === 0 && !over.aborted;
  if (isClosed) await closePage(deps, input);
  return { ...review, isClosed, isReviewDue: !isClosed && isPollDue(deps, progress, pace) };
}
