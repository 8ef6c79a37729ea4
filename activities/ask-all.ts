import { Context } from '@temporalio/activity';
import type { Reason } from '../src/domain/invoice.ts';
import type { StatusAnswer } from '../src/domain/ports/invoicing-service.ts';
import type { StatusNews } from '../src/domain/ports/ledger.ts';
import { eachOf } from './each-of.ts';
import type { ActivityDeps } from './deps.ts';

interface Asked {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** Present: a signed `failed` event waits for this answer. */
  readonly reason?: Reason | null;
  /** How many of the settled times to ask have come. */
  readonly asks?: number;
}

/** GETs each of them, as many at once as the profile allows, and writes down what it says. Returns how many have their final word now. */
export async function askAll(deps: ActivityDeps, invoices: readonly Asked[], until: number): Promise<number> {
  if (invoices.length === 0) return 0;
  const { cancellationSignal } = Context.current();
  let finals = 0;
  await eachOf(invoices, deps.settings.maxConcurrency, async (invoice) => {
    if (cancellationSignal.aborted || deps.now() > until) return;
    const news = await askOne(deps, invoice);
    if (news === null) return;
    await deps.ledger.recordStatus([news]);
    if (news.status === 'issued' || news.status === 'failed') finals += 1;
  });
  return finals;
}

/** GET decides: a reported failure stands when the service repeats it or shows no readable status, not when it may speak of another invoice. */
export async function askOne(deps: Pick<ActivityDeps, 'service' | 'now'>, invoice: Asked): Promise<StatusNews | null> {
  const answer = await deps.service.getInvoice(invoice.serviceId);
  if (answer.kind === 'not-now') return null;
  const status = statusOf(answer, invoice.reason !== undefined);
  const unconfirmed = status === 'failed' && answer.status === 'unreadable';
  const { invoiceId, serviceId, asks } = invoice;
  const reason = answer.reason ?? invoice.reason ?? null;
  const told = { invoiceId, serviceId, status, reason, now: deps.now() };
  return { ...told, ...(unconfirmed ? { unconfirmed } : {}), ...(asks === undefined ? {} : { asks }) };
}

function statusOf(answer: Extract<StatusAnswer, { kind: 'status' }>, reported: boolean): StatusNews['status'] {
  if (answer.status !== 'unreadable') return answer.status;
  // The ledger takes an unreadable status for the confirmation of a failure that it knows of.
  if (answer.doubtful === true) return 'processing';
  return reported ? 'failed' : 'unreadable';
}
