import { Context } from '@temporalio/activity';
import type { ActivityDeps } from '../deps.ts';
import { closePage, type CloseInput } from './close-page.ts';
import { isPollDue, reviewOf, type PageReview } from './settle.ts';

export interface LookInput extends CloseInput {
  /** How long final words are waited for; 0: not at all. */
  readonly waitMs: number;
}

/** What a page still waits for. */
export interface PageLook extends PageReview {
  /** Nothing: the page is closed. */
  readonly isClosed: boolean;
  /** Invoices are to be polled, or a failure is to be confirmed, by a review. */
  readonly isReviewDue: boolean;
}

/** Webhooks write to the ledger; it is read again after a third of what was waited already, within these bounds. */
const REREAD_SHARE = 1 / 3;
const FIRST_REREAD_MS = 50;
const LONGEST_REREAD_MS = 250;

/** Applies stored events of a page and counts what it waits for, without asking the service; closes it as soon as that is nothing. */
export async function lookAtPage(deps: ActivityDeps, input: LookInput): Promise<PageLook> {
  const context = Context.current();
  const began = deps.now();
  for (;;) {
    const look = await lookOnce(deps, input);
    const waited = deps.now() - began;
    const isOver = look.isClosed || look.isReviewDue || waited >= input.waitMs || context.cancellationSignal.aborted;
    if (isOver) return look;
    const reread = Math.min(Math.max(waited * REREAD_SHARE, FIRST_REREAD_MS), LONGEST_REREAD_MS);
    await context.sleep(Math.min(reread, input.waitMs - waited)).catch(() => undefined);
  }
}

async function lookOnce(deps: ActivityDeps, input: LookInput): Promise<PageLook> {
  const { batchId, page, settleMs } = input;
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const progress = await deps.ledger.pageProgress(batchId, page);
  const review = reviewOf(deps, progress, pace);
  const isClosed = review.accepted === 0 && review.attached === 0;
  if (isClosed) await closePage(deps, input);
  const isReviewDue = !isClosed && (await isPollDue(deps, input, progress));
  return { ...review, isClosed, isReviewDue };
}
