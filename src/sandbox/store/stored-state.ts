import type { DeliveryRecord, InvoiceRecord, MerchantRecord, StoredErrorRecord, WebhookRecord } from '../records.ts';
import type { Change, Settlement, StoredBooks } from './sandbox-store.ts';

/** The books as all changes so far have left them, in memory. Bodies of invoices are not part of it. */
export class StoredState {
  readonly #merchants = new Map<string, MerchantRecord>();
  readonly #invoices = new Map<string, InvoiceRecord>();
  readonly #webhooks = new Map<string, WebhookRecord>();
  readonly #storedErrors = new Map<string, StoredErrorRecord>();
  readonly #deliveries = new Map<string, DeliveryRecord>();

  apply(change: Change): void {
    switch (change.kind) {
      case 'merchant':
        this.#merchants.set(change.merchant.id, change.merchant);
        return;
      case 'invoice':
        this.#invoices.set(change.invoice.id, change.invoice);
        return;
      case 'webhook':
        this.#webhooks.set(change.webhook.id, change.webhook);
        return;
      case 'stored-error':
        this.#storedErrors.set(storedErrorKey(change.storedError), change.storedError);
        return;
      case 'settlement':
        this.#settle(change.settlement);
        return;
      case 'delivery':
      case 'delivery-failed':
        this.#deliveries.set(change.delivery.id, change.delivery);
        return;
      case 'delivery-done':
        this.#deliveries.delete(change.delivery.id);
        return;
    }
  }

  /** A copy of it all, beside the bodies of what is processing, by invoice id. */
  books(processingBodies: ReadonlyMap<string, string>): StoredBooks {
    return {
      merchants: [...this.#merchants.values()],
      invoices: [...this.#invoices.values()],
      processingBodies,
      webhooks: [...this.#webhooks.values()],
      storedErrors: [...this.#storedErrors.values()],
      deliveries: [...this.#deliveries.values()],
    };
  }

  /** The first final word counts. */
  #settle({ invoiceId, error, settledAt }: Settlement): void {
    const invoice = this.#invoices.get(invoiceId);
    if (invoice?.status !== 'processing') return;
    this.#invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
  }
}

function storedErrorKey({ applicationId, idempotencyKey }: StoredErrorRecord): string {
  return `${applicationId} ${idempotencyKey}`;
}
