import type { DeliveryRecord, InvoiceRecord, MerchantRecord, StoredErrorRecord, WebhookRecord } from '../records.ts';
import type { Change, SandboxStore, Settlement, StoredBooks } from './sandbox-store.ts';

interface Store {
  readonly merchants: Map<string, MerchantRecord>;
  readonly invoices: Map<string, InvoiceRecord>;
  readonly bodies: Map<string, string>;
  readonly webhooks: Map<string, WebhookRecord>;
  readonly storedErrors: Map<string, StoredErrorRecord>;
  readonly deliveries: Map<string, DeliveryRecord>;
}

/** Books in this process's memory: gone with the process, but not with a sandbox that is closed and started again on them. */
export function memoryStore(): SandboxStore {
  const store: Store = {
    merchants: new Map(),
    invoices: new Map(),
    bodies: new Map(),
    webhooks: new Map(),
    storedErrors: new Map(),
    deliveries: new Map(),
  };
  return {
    open: async () => readAll(store),
    async write(changes) {
      for (const change of changes) put(store, change);
    },
    async invoiceBody(id) {
      const body = store.bodies.get(id);
      if (body === undefined) throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
      return body;
    },
    close: async () => {},
  };
}

function readAll(store: Store): StoredBooks {
  const invoices = [...store.invoices.values()];
  const processing = invoices.filter((invoice) => invoice.status === 'processing');
  return {
    merchants: [...store.merchants.values()],
    invoices,
    processingBodies: new Map(processing.map(({ id }) => [id, store.bodies.get(id) ?? ''])),
    webhooks: [...store.webhooks.values()],
    storedErrors: [...store.storedErrors.values()],
    deliveries: [...store.deliveries.values()],
  };
}

function put(store: Store, change: Change): void {
  switch (change.kind) {
    case 'merchant':
      store.merchants.set(change.merchant.id, change.merchant);
      return;
    case 'invoice':
      store.invoices.set(change.invoice.id, change.invoice);
      store.bodies.set(change.invoice.id, change.body);
      return;
    case 'webhook':
      store.webhooks.set(change.webhook.id, change.webhook);
      return;
    case 'stored-error':
      store.storedErrors.set(
        `${change.storedError.applicationId} ${change.storedError.idempotencyKey}`,
        change.storedError,
      );
      return;
    case 'settlement':
      settle(store, change.settlement);
      return;
    case 'delivery':
    case 'delivery-failed':
      store.deliveries.set(change.delivery.id, change.delivery);
      return;
    case 'delivery-done':
      store.deliveries.delete(change.delivery.id);
      return;
  }
}

function settle(store: Store, { invoiceId, error, settledAt }: Settlement): void {
  const invoice = store.invoices.get(invoiceId);
  if (invoice?.status !== 'processing') return;
  store.invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
}
