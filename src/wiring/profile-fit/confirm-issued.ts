import { eachOf } from '../../concurrency/each-of.ts';
import type { InvoicingService } from '../../domain/ports/invoicing-service.ts';
import type { RecordDelivery } from '../../domain/ports/ledger/delivery-ledger.ts';

/** Of the events of one delivery. */
const ASKED_AT_ONCE = 8;

/**
 * Whether the service itself says by GET what events say that call invoices issued. It is for events whose headers are
 * not signed: anybody may have written those. An answer without a readable status leaves the event its word, as it does
 * for one that says failed. Of deliveries that are not confirmed now, the sender comes again.
 */
export function confirmIssued(
  service: Pick<InvoicingService, 'getInvoice'>,
): (deliveries: readonly RecordDelivery[]) => true | Promise<boolean> {
  return (deliveries) => {
    const ids = new Set(
      deliveries.flatMap(({ event }) =>
        event?.verdict === 'issued' && event.serviceId !== null ? [event.serviceId] : [],
      ),
    );
    return ids.size === 0 ? true : areIssued(service, [...ids]);
  };
}

async function areIssued(service: Pick<InvoicingService, 'getInvoice'>, ids: readonly string[]): Promise<boolean> {
  let all = true;
  await eachOf(ids, ASKED_AT_ONCE, async (id) => {
    if (all && !(await isIssued(service, id))) all = false;
  });
  return all;
}

async function isIssued(service: Pick<InvoicingService, 'getInvoice'>, id: string): Promise<boolean> {
  const answer = await service.getInvoice(id);
  if (answer.kind === 'not-now') return false;
  return answer.status === 'unreadable' ? answer.doubtful !== true : answer.status === 'issued';
}
