import { pollsDue, pollsEveryInvoice } from '../../src/domain/poll-times.ts';
import type { PendingInvoice } from '../../src/domain/ports/ledger.ts';
import type { ActivityDeps } from '../deps.ts';
import { pollStatuses } from './poll-statuses.ts';
import { takeNext } from '../draw-from.ts';

export interface PendingPage {
  readonly batchId: string;
  readonly page: number;
  readonly settleMs: number;
}

/** Asked before the others: an engine that is slow for all of them must not be asked for thousands. */
const FIRST_SAMPLE = 20;
/** A page is 2,000 invoices or somewhat more; what is beyond this is asked for in the next review. */
const MOST_ASKED_AT_ONCE = 5_000;

/**
 * GETs what is silent and whose time has come. At the last three of the times to ask, each invoice is asked. At the earlier ones a sample drawn by lot
 * is asked first, and twice as many each time as long as one of them has a final word: when none has, the engine needs its time, and no webhook
 * was lost. Returns whether the review ended before each of those that had to be asked was.
 */
export async function pollPending(deps: ActivityDeps, page: PendingPage, until: number): Promise<boolean> {
  for (let sample = FIRST_SAMPLE; deps.now() < until; sample *= 2) {
    // Read again each time: webhooks that arrive meanwhile make a question needless.
    const { everyone, sampled, more } = await dueInvoices(deps, page);
    const chosen = [...everyone, ...takeNext(sampled, sample, deps.random)];
    const { answered, finals, skipped } = await pollStatuses(deps, chosen, until);
    // A service that answers nothing is not asked for ever.
    if (answered > 0 && (skipped > 0 || more)) return true;
    if (finals === 0 || chosen.length === everyone.length + sampled.length) return false;
  }
  return false;
}

/** Every silent invoice, whether or not its time has come. The settled times stay what they were. */
export async function pollNow(deps: ActivityDeps, { batchId, page }: PendingPage, until: number): Promise<void> {
  await pollStatuses(deps, await deps.ledger.silent(batchId, page, deps.now() + 1, MOST_ASKED_AT_ONCE), until);
}

interface Due {
  readonly everyone: readonly PendingInvoice[];
  readonly sampled: readonly PendingInvoice[];
  /** There are more than one review asks for. */
  readonly more: boolean;
}

async function dueInvoices(deps: ActivityDeps, { batchId, page, settleMs }: PendingPage): Promise<Due> {
  const now = deps.now();
  const everyone: PendingInvoice[] = [];
  const sampled: PendingInvoice[] = [];
  const silent = await deps.ledger.silent(batchId, page, now, MOST_ASKED_AT_ONCE);
  for (const invoice of silent) {
    // Each by its own age: within a page that was held up, the first may have waited for hours when the last was accepted.
    const asks = pollsDue(settleMs, now - invoice.acceptedAt);
    if (invoice.asks >= asks) continue;
    (pollsEveryInvoice(settleMs, asks) ? everyone : sampled).push({ ...invoice, asks });
  }
  return { everyone, sampled, more: silent.length === MOST_ASKED_AT_ONCE && everyone.length > 0 };
}
