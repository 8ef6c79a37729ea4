import type { AnswerWatch } from '../../../activities/profile-fit/answer-watch.ts';
import { pollOne } from '../../../activities/settling/poll-statuses.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { AppliedDeliveries } from '../../domain/ports/ledger/delivery-ledger.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import type { SettledInvoice } from '../../domain/ports/ledger/settling-ledger.ts';

export interface ConfirmationDeps {
  readonly ledger: Pick<Ledger, 'recordStatus'>;
  readonly service: InvoicingService;
  readonly watch: Pick<AnswerWatch, 'asked' | 'isStopped'>;
  readonly onSettled: (settled: readonly SettledInvoice[]) => void;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/**
 * Confirms a signed `failed` event by GET as soon as it is applied: the event alone proves nothing. If the GET gets no
 * answer now, or nothing counts now, the page that waits for the invoice polls it.
 */
export async function confirmFailure(
  deps: ConfirmationDeps,
  invoice: AppliedDeliveries['toConfirm'][number],
): Promise<void> {
  try {
    if (await deps.watch.isStopped()) return;
    const update = await pollOne(deps, { ...invoice, reason: null });
    if (update !== null) deps.onSettled(await deps.ledger.recordStatus([update]));
  } catch (error) {
    deps.log.warn('a reported failure could not be confirmed now; its page will ask again', { err: error });
  }
}

/**
 * Asks for an invoice again that only a GET has called issued, and of which a signed event now says that it failed. If the GET says the same now, the word that
 * it said before was no end.
 */
export async function askAgain(
  {
    service,
    watch,
    log,
  }: Pick<ConfirmationDeps, 'service' | 'log'> & { readonly watch: Pick<AnswerWatch, 'failedAfterIssued'> },
  serviceId: string,
): Promise<void> {
  try {
    const answer = await service.getInvoice(serviceId);
    if (answer.kind === 'status' && answer.status === 'failed') await watch.failedAfterIssued(serviceId);
  } catch (error) {
    log.warn('an invoice that failed after it was issued could not be asked for', { err: error });
  }
}
