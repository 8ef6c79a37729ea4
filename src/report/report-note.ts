import type { DeliveryTrouble } from '../domain/ports/ledger/delivery-ledger.ts';

/** Something that the reader of a report must know beside its invoices; each language has a sentence for each. */
export type ReportNote =
  /** Webhooks since the batch began that could not be read, or told of invoices that nobody here knows. */
  | { readonly kind: 'webhooks-unreadable' | 'webhooks-of-unknown-invoices'; readonly n: number }
  /** There should be a corrections file, and the original could not be read again. */
  | { readonly kind: 'no-corrections' }
  /** There should be one, and not every row that belongs into it is known. */
  | { readonly kind: 'corrections-incomplete' }
  /** They come as CSV although the original is a workbook; `cause`: why, in English. */
  | { readonly kind: 'corrections-as-csv'; readonly cause: string }
  /** Why no webhook came, or some were refused. */
  | {
      readonly kind:
        | 'no-webhook-url'
        | 'no-webhook-secret'
        | 'no-address-secret'
        | 'webhook-not-by-lote'
        | 'webhook-registered-elsewhere';
    }
  /** `code`: of the service's answer, or of its loss. */
  | { readonly kind: 'registration-lost' | 'registration-refused'; readonly code: string }
  | { readonly kind: 'registered-before'; readonly n: number };

/** Alerts about webhooks since a batch began: they are the ledger's, not one batch's, so every report of that time carries them. */
export function deliveryNotes({ unreadable, unknownIds }: DeliveryTrouble): readonly ReportNote[] {
  return [
    ...(unreadable === 0 ? [] : [{ kind: 'webhooks-unreadable', n: unreadable } as const]),
    ...(unknownIds === 0 ? [] : [{ kind: 'webhooks-of-unknown-invoices', n: unknownIds } as const]),
  ];
}
