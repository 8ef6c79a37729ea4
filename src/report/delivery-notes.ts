import type { DeliveryTrouble } from '../domain/ports/ledger.ts';

/** Alerts about webhooks since a batch began: they are the ledger's, not one batch's, so every report of that time carries them. */
export function deliveryNotes({ unreadable, unknownIds }: DeliveryTrouble): readonly string[] {
  return [
    ...(unreadable === 0
      ? []
      : [
          `Alert: ${webhooks(unreadable)} with a right signature could not be read since this batch began. The ledger keeps the bytes; compare them with the service profile (event). Final answers came by asking (GET).`,
        ]),
    ...(unknownIds === 0
      ? []
      : [
          `Alert: ${webhooks(unknownIds)} since this batch began told of invoices that nobody here knows: of another application, or of a POST whose answer was lost. The ledger keeps them, and applies them when it meets their invoice.`,
        ]),
  ];
}

function webhooks(count: number): string {
  return count === 1 ? '1 webhook' : `${count} webhooks`;
}
