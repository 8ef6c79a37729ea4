import type { DeliveryTrouble } from '../domain/ports/ledger.ts';
import type { ReportNote } from './report-note.ts';

/** Alerts about webhooks since a batch began: they are the ledger's, not one batch's, so every report of that time carries them. */
export function deliveryNotes({ unreadable, unknownIds }: DeliveryTrouble): readonly ReportNote[] {
  return [
    ...(unreadable === 0 ? [] : [{ kind: 'webhooks-unreadable', n: unreadable } as const]),
    ...(unknownIds === 0 ? [] : [{ kind: 'webhooks-of-unknown-invoices', n: unknownIds } as const]),
  ];
}
