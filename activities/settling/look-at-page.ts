import { Context } from '@temporalio/activity';
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
 * Webhooks write to the ledger. It is counted again when, by what was settled since the count before, nothing should be left to wait for; while nothing
 * is settled, after a third of what was waited already. To read a page of 2,000 takes the database as long as to settle a hundred invoices, to count
 * what is open in it a third of that. A late page is counted more often: its final words come behind those of the pages before, and then all at once, so
 * that the first of them say little about the last.
 */
const REREAD_SHARE = 1 / 3;
const FIRST_REREAD_MS = 50;
const LONGEST_REREAD_MS = 250;

/** Applies stored events of a page and counts what it waits for, without asking the service; closes it as soon as that is nothing. */
export async function lookAtPage(deps: ActivityDeps, input: LookInput): Promise<PageLook> {
  const { cancellationSignal: over } = Context.current();
  const look = await lookOnce(deps, input, over);
  if (look.isClosed || look.isReviewDue || input.waitMs <= 0 || over.aborted) return look;
  await waitWhileOpen(deps, { ...input, open: look.accepted + look.attached }, over);
  return lookOnce(deps, input, over);
}

/** Until no invoice of the page is waited for, or the time is over. */
async function waitWhileOpen(
  { ledger, now }: Pick<ActivityDeps, 'ledger' | 'now'>,
  { batchId, page, waitMs, isLate = false, open }: LookInput & { readonly open: number },
  over: AbortSignal,
): Promise<void> {
  const began = now();
  let before: Seen | null = null;
  let seen: Seen = { open, at: began };
  for (let waited = 0; waited < waitMs && seen.open > 0 && !over.aborted; waited = now() - began) {
    const next = Math.round(Math.max(settledInMs(before, seen) ?? nextGuessMs(waited), FIRST_REREAD_MS));
    await Context.current()
      .sleep(Math.min(next, isLate ? LONGEST_REREAD_MS : waitMs, waitMs - waited))
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
function settledInMs(before: Seen | null, { open, at }: Seen): number | null {
  if (before === null || open >= before.open) return null;
  return (open * (at - before.at)) / (before.open - open);
}

function nextGuessMs(waited: number): number {
  return Math.min(waited * REREAD_SHARE, LONGEST_REREAD_MS);
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
