import { pollOne } from '../../../activities/settling/poll-statuses.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { AppliedDeliveries, Ledger, SettledInvoice } from '../../domain/ports/ledger.ts';

export interface ConfirmationDeps {
  readonly ledger: Pick<Ledger, 'recordStatus'>;
  readonly service: InvoicingService;
  readonly onSettled: (settled: readonly SettledInvoice[]) => void;
  readonly log: { warn(message: string, fields?: Record<string, unknown>): void };
  readonly now: () => number;
}

/**
 * A signed `failed` is not believed alone: it is asked for by GET as soon as it is applied. What cannot be asked now is asked by the page that
 * waits for it.
 */
export async function confirmFailure(
  deps: ConfirmationDeps,
  invoice: AppliedDeliveries['toConfirm'][number],
): Promise<void> {
  try {
    const news = await pollOne(deps, { ...invoice, reason: null });
    if (news !== null) deps.onSettled(await deps.ledger.recordStatus([news]));
  } catch (error) {
    deps.log.warn('a reported failure could not be confirmed now; its page will ask again', { err: error });
  }
}
