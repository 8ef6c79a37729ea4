import { ageOf } from '../../src/domain/time/is-ahead.ts';
import { pollsDue, pollsEveryInvoice, pollTimes } from '../../src/domain/time/poll-times.ts';
import type { PendingInvoice } from '../../src/domain/ports/ledger/settling-ledger.ts';
import type { ActivityDeps } from '../deps.ts';
import { pollStatuses } from './poll-statuses.ts';
import { takeRandom } from '../take-random.ts';

export interface PendingPage {
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
}

/** Polled before the other invoices: an engine that is slow for all of them must not get thousands of polls. */
const FIRST_SAMPLE = 20;
/** A page is 2,000 invoices or somewhat more; the next review polls what is beyond this. */
const MOST_POLLED_AT_ONCE = 5_000;

/**
 * Polls the pending invoices that are due. The last three polls go to every invoice. Each earlier one goes to a random
 * sample first, and to twice as many while one of them has a final word: when none has, the engine needs its time, and
 * no webhook was lost. Returns whether the review ended before it had polled every invoice that it had to.
 */
export async function pollPending(deps: ActivityDeps, page: PendingPage, until: number): Promise<boolean> {
  for (let sample = FIRST_SAMPLE; deps.now() < until; sample *= 2) {
    // Read again each time: webhooks that arrive meanwhile make a poll needless.
    const { everyone, sampled, more } = await dueInvoices(deps, page);
    const chosen = [...everyone, ...takeRandom(sampled, sample, deps.random)];
    const { answered, finals, skipped } = await pollStatuses(deps, chosen, until);
    // A service that answers nothing is not polled for ever.
    if (answered > 0 && (skipped > 0 || more)) return true;
    if (finals === 0 || chosen.length === everyone.length + sampled.length) return false;
  }
  return false;
}

/** Polls every pending invoice, due or not. The planned polls stay what they were. */
export async function pollNow(deps: ActivityDeps, { batchId, page }: PendingPage, until: number): Promise<void> {
  await pollStatuses(
    deps,
    await deps.ledger.pendingInvoices(batchId, page, deps.now() + 1, MOST_POLLED_AT_ONCE),
    until,
  );
}

type DueInvoice = PendingInvoice & { readonly isLast: boolean };

interface Due {
  readonly everyone: readonly DueInvoice[];
  readonly sampled: readonly DueInvoice[];
  /** Whether there are more than one review polls. */
  readonly more: boolean;
}

async function dueInvoices(deps: ActivityDeps, { batchId, page, settleMs }: PendingPage): Promise<Due> {
  const now = deps.now();
  const pace = { settleMs, everyMs: deps.settings.pollEveryMs };
  const last = pollTimes(pace).length;
  const everyone: DueInvoice[] = [];
  const sampled: DueInvoice[] = [];
  const pending = await deps.ledger.pendingInvoices(batchId, page, now, MOST_POLLED_AT_ONCE);
  for (const invoice of pending) {
    // Each invoice counts by its own age: in a page that was held up, the first may have waited for hours when the last
    // was accepted.
    const due = pollsDue(pace, ageOf(invoice.acceptedAt, now));
    if (invoice.asks >= due) continue;
    const always = pollsEveryInvoice(pace, due) || deps.watch.isWaiting(invoice.serviceId);
    (always ? everyone : sampled).push({ ...invoice, asks: due, isLast: due >= last });
  }
  return { everyone, sampled, more: pending.length === MOST_POLLED_AT_ONCE && everyone.length > 0 };
}
