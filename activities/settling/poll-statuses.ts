import { PROFILE_CONTRADICTION } from '../../src/domain/circuit-reasons.ts';
import type { Reason } from '../../src/domain/invoice.ts';
import type { StatusAnswer } from '../../src/domain/ports/invoicing-service.ts';
import type { StatusUpdate } from '../../src/domain/ports/ledger/settling-ledger.ts';
import { eachOf } from '../../src/concurrency/each-of.ts';
import type { ActivityDeps } from '../deps.ts';
import { attemptOver } from '../attempt-over.ts';

interface PolledInvoice {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** Present: a signed `failed` event waits for this answer. */
  readonly reason?: Reason | null;
  /** How many of the planned polls are due by now. */
  readonly asks?: number;
  /** No planned poll of the invoice follows. */
  readonly isLast?: boolean;
}

interface PollCounts {
  /** Invoices of which the service said something. */
  readonly answered: number;
  /** Invoices that now have their final word. */
  readonly finals: number;
  /** Invoices that were not polled, because the time was over. */
  readonly skipped: number;
}

/** Polls the invoices until `until` (epoch ms), as many at once as the profile allows, and records each answer. */
export async function pollStatuses(
  deps: ActivityDeps,
  invoices: readonly PolledInvoice[],
  until: number,
): Promise<PollCounts> {
  const counts = { answered: 0, finals: 0, skipped: 0 };
  if (invoices.length === 0) return counts;
  if (await isContradicted(deps)) return { ...counts, skipped: invoices.length };
  const over = attemptOver();
  await eachOf(invoices, deps.settings.maxConcurrency, async (invoice) => {
    if (over.aborted || deps.now() > until || (await deps.watch.isStopped())) {
      counts.skipped += 1;
      return;
    }
    const update = await pollOne(deps, invoice, over);
    if (update === null) return;
    counts.answered += 1;
    await deps.ledger.recordStatus([update]);
    if (update.status === 'issued' || update.status === 'failed') counts.finals += 1;
  });
  return counts;
}

/**
 * No word of the service is believed while its events and its answers contradict each other. Ids that repeat (`service-ids-repeated`) stop no poll: a GET
 * creates nothing, and documents of before have ids of their own.
 */
export async function isContradicted({
  ledger,
  service: { baseUrl },
}: Pick<ActivityDeps, 'ledger' | 'service'>): Promise<boolean> {
  return (await ledger.breaker(baseUrl))?.reason.code === PROFILE_CONTRADICTION;
}

/**
 * Polls one invoice. A reported failure stands if the GET repeats it or shows no readable status; it does not stand if
 * the answer may be about another invoice. Null: no answer now, also because the signal was aborted.
 */
export async function pollOne(
  deps: Pick<ActivityDeps, 'service' | 'now'> & { readonly watch: Pick<ActivityDeps['watch'], 'asked'> },
  invoice: PolledInvoice,
  signal?: AbortSignal,
): Promise<StatusUpdate | null> {
  const answer = await deps.watch.asked({
    serviceId: invoice.serviceId,
    answer: await deps.service.getInvoice(invoice.serviceId, signal),
    reported: invoice.reason === undefined ? null : 'failed',
    isLast: invoice.isLast ?? false,
  });
  if (answer.kind === 'not-now') return null;
  const status = statusOf(answer, invoice.reason !== undefined);
  const unconfirmed = status === 'failed' && answer.status === 'unreadable';
  const { invoiceId, serviceId, asks } = invoice;
  // Why there is no status is not why the invoice failed: the ledger knows what the event said of that.
  const reason = (unconfirmed ? null : answer.reason) ?? invoice.reason ?? null;
  const notified = { invoiceId, serviceId, status, reason, now: deps.now() };
  return { ...notified, ...(unconfirmed ? { unconfirmed } : {}), ...(asks === undefined ? {} : { asks }) };
}

function statusOf(answer: Extract<StatusAnswer, { kind: 'status' }>, reported: boolean): StatusUpdate['status'] {
  if (answer.status !== 'unreadable') return answer.status;
  // The ledger takes an unreadable status as the confirmation of a failure that it knows of.
  if (answer.doubtful === true) return 'processing';
  return reported ? 'failed' : 'unreadable';
}
