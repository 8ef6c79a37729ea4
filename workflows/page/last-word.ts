import { log, proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';
import type { PageLook } from '../../activities/settling/look-at-page.ts';
import type { PageInput } from '../../src/contract/messages.ts';
import type { SendingEnd } from './page-sending.ts';

export type { PageLook };

/**
 * A local activity: it takes a few small statements of the ledger, and costs one event. It ends before the workflow task that it is part of must be
 * prolonged. It does not wait for a ledger that is away; the review that then follows does.
 */
const { lookAtPage } = proxyLocalActivities<Activities>({
  scheduleToCloseTimeout: '7s',
  retry: { maximumAttempts: 1 },
});

/** A service that is done within this has its page closed by one look, which meanwhile takes one of the 40 workflow tasks of a worker. */
const LONGEST_WAIT_MS = 3_000;
/** Of a page that the batch soon waits for: a review must ask the service what no webhook says. */
const LATE_WAIT_MS = 2_000;
/** Of the settle time: polls begin after a quarter of it. */
const WAIT_SHARE = 8;

/**
 * Looks for the final words of a page that has just sent its last invoice, and closes it when it has all of them. Null: a review must find out how it
 * stands. The batch is told that the page is sent: at once where another page may wait for its place, else only if it is not closed.
 */
export async function lookForLastWord(
  input: PageInput,
  { sent, notifySent }: { readonly sent: SendingEnd; readonly notifySent: () => Promise<void> },
): Promise<PageLook | null> {
  const { settings, awaited = true } = input;
  // What is ordered beside a local activity leaves with its end.
  if (awaited) await notifySent();
  const waitMs = Math.min(awaited ? LONGEST_WAIT_MS : LATE_WAIT_MS, settings.settleMs / WAIT_SHARE);
  const look = await lookOnce(input, { sent, waitMs, isLate: !awaited });
  if (!awaited && look?.isClosed !== true) await notifySent();
  return look;
}

/** Closes the page if it waits for nothing, or comes to that within `waitMs`. Null: a review must find out how it stands. */
export async function lookOnce(
  { ledgerId, batchId, fencingToken, page, settings: { settleMs } }: PageInput,
  { sent, waitMs, isLate = false }: { readonly sent: SendingEnd; readonly waitMs: number; readonly isLate?: boolean },
): Promise<PageLook | null> {
  try {
    const look = await lookAtPage({ ledgerId, batchId, page, fencingToken, settleMs, waitMs, isLate, ...sent });
    return look.isReviewDue ? null : look;
  } catch {
    log.info('the page could not be looked at, and is reviewed', { page });
    return null;
  }
}
