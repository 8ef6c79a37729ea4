import { Context } from '@temporalio/activity';
import type { Reason } from '../src/domain/invoice.ts';
import type { StatusNews } from '../src/domain/ports/ledger.ts';
import { eachOf } from './each-of.ts';
import type { ActivityDeps } from './deps.ts';

export interface ReviewInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  /** How many times a silent invoice should have been asked for by now. */
  readonly ask: number;
}

export interface PageReview {
  readonly now: number;
  readonly accepted: number;
  /** Sent by another batch and not final yet. */
  readonly attached: number;
  readonly newestAcceptedAt: number | null;
}

/** A page is 2,000 invoices or somewhat more; what is beyond this is asked for in the next review. */
const MOST_ASKED_AT_ONCE = 5_000;

/** Reads where a page stands; confirms reported failures and asks for silent invoices by GET on the way. */
export async function reviewPage(deps: ActivityDeps, { batchId, page, ask }: ReviewInput): Promise<PageReview> {
  const failures = await deps.ledger.unconfirmedFailures(batchId, page, MOST_ASKED_AT_ONCE);
  await askAll(deps, failures);
  if (ask > 0) {
    const silent = await deps.ledger.silent(batchId, page, deps.now(), MOST_ASKED_AT_ONCE);
    await askAll(
      deps,
      silent.filter((invoice) => invoice.asks < ask),
    );
  }
  const progress = await deps.ledger.pageProgress(batchId, page);
  return {
    now: deps.now(),
    accepted: progress.accepted,
    attached: progress.attached,
    newestAcceptedAt: progress.newestAcceptedAt,
  };
}

interface Asked {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** Present: a signed `failed` event waits for this answer. */
  readonly reason?: Reason | null;
}

async function askAll(deps: ActivityDeps, invoices: readonly Asked[]): Promise<void> {
  const context = Context.current();
  await eachOf(invoices, deps.settings.maxConcurrency, async (invoice) => {
    if (context.cancellationSignal.aborted) return;
    const news = await askOne(deps, invoice);
    if (news !== null) await deps.ledger.recordStatus([news]);
    context.heartbeat();
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

export interface CloseInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly page: number;
  readonly cancelled: boolean;
}

/** Gives every invoice of the page that has no final word the state that says so. */
export async function closePage(deps: ActivityDeps, { batchId, page, cancelled }: CloseInput): Promise<void> {
  const now = deps.now();
  const reason = cancelled
    ? {
        code: 'batch-cancelled',
        message: 'An operator cancelled what was not sent yet. Drop the file again to send it.',
      }
    : {
        code: 'no-final-answer',
        message: 'The time for this was spent without a final answer of the service. Reconciliation goes on asking.',
      };
  await deps.ledger.closePage(batchId, page, { acceptedBefore: now + 1, reason, now });
}
