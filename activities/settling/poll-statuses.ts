import { Context } from '@temporalio/activity';
import type { Reason } from '../../src/domain/invoice.ts';
import type { StatusAnswer } from '../../src/domain/ports/invoicing-service.ts';
import type { StatusNews } from '../../src/domain/ports/ledger.ts';
import { eachOf } from '../each-of.ts';
import type { ActivityDeps } from '../deps.ts';

interface Asked {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** Present: a signed `failed` event waits for this answer. */
  readonly reason?: Reason | null;
  /** How many of the settled times to ask have come. */
  readonly asks?: number;
}

interface PollCounts {
  /** The service said something about the invoice. */
  readonly answered: number;
  /** Have their final word now. */
  readonly finals: number;
  /** Not asked, because the time was over. */
  readonly skipped: number;
}

/** GETs each of them until the time (epoch ms) is over, as many at once as the profile allows, and writes down what it says. */
export async function pollStatuses(deps: ActivityDeps, invoices: readonly Asked[], until: number): Promise<PollCounts> {
  const counts = { answered: 0, finals: 0, skipped: 0 };
  if (invoices.length === 0) return counts;
  const { cancellationSignal } = Context.current();
  await eachOf(invoices, deps.settings.maxConcurrency, async (invoice) => {
    if (cancellationSignal.aborted || deps.now() > until) {
      counts.skipped += 1;
      return;
    }
    const news = await pollOne(deps, invoice);
    if (news === null) return;
    counts.answered += 1;
    await deps.ledger.recordStatus([news]);
    if (news.status === 'issued' || news.status === 'failed') counts.finals += 1;
  });
  return counts;
}

/** GET decides: a reported failure stands when the service repeats it or shows no readable status, not when it may speak of another invoice. */
export async function pollOne(deps: Pick<ActivityDeps, 'service' | 'now'>, invoice: Asked): Promise<StatusNews | null> {
  const answer = await deps.service.getInvoice(invoice.serviceId);
  if (answer.kind === 'not-now') return null;
  const status = statusOf(answer, invoice.reason !== undefined);
  const unconfirmed = status === 'failed' && answer.status === 'unreadable';
  const { invoiceId, serviceId, asks } = invoice;
  const reason = answer.reason ?? invoice.reason ?? null;
  const notified = { invoiceId, serviceId, status, reason, now: deps.now() };
  return { ...notified, ...(unconfirmed ? { unconfirmed } : {}), ...(asks === undefined ? {} : { asks }) };
}

function statusOf(answer: Extract<StatusAnswer, { kind: 'status' }>, reported: boolean): StatusNews['status'] {
  if (answer.status !== 'unreadable') return answer.status;
  // The ledger takes an unreadable status for the confirmation of a failure that it knows of.
  if (answer.doubtful === true) return 'processing';
  return reported ? 'failed' : 'unreadable';
}
