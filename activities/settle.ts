import { Context } from '@temporalio/activity';
import { asksDue, nextAskInMs } from '../src/domain/ask-times.ts';
import type { Reason } from '../src/domain/invoice.ts';
import type { PageProgress, StatusNews } from '../src/domain/ports/ledger.ts';
import { eachOf } from './each-of.ts';
import type { ActivityDeps } from './deps.ts';

export interface ReviewInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
  /** An operator wants every silent invoice asked for, whether or not it is due. */
  readonly askNow?: boolean;
}

/** Times are spans, not moments: the clocks of worker and Temporal server need not agree. */
export interface PageReview {
  readonly accepted: number;
  /** To be sent by another batch that is not closed. */
  readonly attached: number;
  /** Until a GET of one of the accepted is due; null: none is left to ask. */
  readonly nextAskInMs: number | null;
  /** Until the settle time of all accepted is over; null: none waits. */
  readonly settleEndsInMs: number | null;
}

/** A page is 2,000 invoices or somewhat more; what is beyond this is asked for in the next review. */
const MOST_ASKED_AT_ONCE = 5_000;
/** A review of a slow service ends after this; the next one goes on. */
const LONGEST_REVIEW_MS = 60_000;

/** Reads where a page stands; confirms reported failures and asks for silent invoices by GET on the way. */
export async function reviewPage(deps: ActivityDeps, input: ReviewInput): Promise<PageReview> {
  const { batchId, page, settleMs } = input;
  const until = deps.now() + LONGEST_REVIEW_MS;
  const failures = await deps.ledger.unconfirmedFailures(batchId, page, MOST_ASKED_AT_ONCE);
  await askAll(deps, failures, { until });
  let progress = await deps.ledger.pageProgress(batchId, page);
  if (input.askNow === true && progress.accepted > 0) {
    const silent = await deps.ledger.silent(batchId, page, deps.now() + 1, MOST_ASKED_AT_ONCE);
    await askAll(deps, silent, { until, outOfTurn: true });
    progress = await deps.ledger.pageProgress(batchId, page);
  } else if (asksDue(settleMs, ageOf(deps, progress.oldestAcceptedAt)) > 0) {
    const silent = await deps.ledger.silent(batchId, page, deps.now(), MOST_ASKED_AT_ONCE);
    // Each by its own age: within a page that was held up, the first may have waited for hours when the last was accepted.
    const due = silent.filter(({ asks, acceptedAt }) => asks < asksDue(settleMs, ageOf(deps, acceptedAt)));
    await askAll(deps, due, { until });
    progress = await deps.ledger.pageProgress(batchId, page);
  }
  return standing(deps, progress, settleMs);
}

function standing(deps: Pick<ActivityDeps, 'now'>, progress: PageProgress, settleMs: number): PageReview {
  const { accepted, attached, oldestAcceptedAt, newestAcceptedAt } = progress;
  if (accepted === 0 || newestAcceptedAt === null) {
    return { accepted: 0, attached, nextAskInMs: null, settleEndsInMs: null };
  }
  const newest = ageOf(deps, newestAcceptedAt);
  const asks = [nextAskInMs(settleMs, ageOf(deps, oldestAcceptedAt)), nextAskInMs(settleMs, newest)];
  const left = asks.filter((span) => span !== null);
  return {
    accepted,
    attached,
    nextAskInMs: left.length === 0 ? null : Math.min(...left),
    settleEndsInMs: Math.max(0, settleMs - newest),
  };
}

function ageOf({ now }: Pick<ActivityDeps, 'now'>, acceptedAt: number | null): number {
  return acceptedAt === null ? 0 : now() - acceptedAt;
}

interface Asked {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** Present: a signed `failed` event waits for this answer. */
  readonly reason?: Reason | null;
}

async function askAll(
  deps: ActivityDeps,
  invoices: readonly Asked[],
  { until, outOfTurn = false }: { readonly until: number; readonly outOfTurn?: boolean },
): Promise<void> {
  if (invoices.length === 0) return;
  const { cancellationSignal } = Context.current();
  await eachOf(invoices, deps.settings.maxConcurrency, async (invoice) => {
    if (cancellationSignal.aborted || deps.now() > until) return;
    const news = await askOne(deps, invoice);
    if (news !== null) await deps.ledger.recordStatus([outOfTurn ? { ...news, outOfTurn } : news]);
  });
}

/** GET decides: a reported failure stands when the service repeats it or shows no readable status. */
export async function askOne(deps: Pick<ActivityDeps, 'service' | 'now'>, invoice: Asked): Promise<StatusNews | null> {
  const answer = await deps.service.getInvoice(invoice.serviceId);
  if (answer.kind === 'not-now') return null;
  const reported = invoice.reason !== undefined;
  const status = reported && answer.status === 'unreadable' ? 'failed' : answer.status;
  const { invoiceId, serviceId } = invoice;
  return { invoiceId, serviceId, status, reason: answer.reason ?? invoice.reason ?? null, now: deps.now() };
}
