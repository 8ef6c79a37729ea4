import type { DeliveryRecord, InvoiceRecord, MerchantRecord, StoredErrorRecord, WebhookRecord } from '../records.ts';
import type { Change, SandboxStore, Settlement, StoredBooks } from './sandbox-store.ts';

interface Shelves {
  readonly merchants: Map<string, MerchantRecord>;
  readonly invoices: Map<string, InvoiceRecord>;
  readonly bodies: Map<string, string>;
  readonly webhooks: Map<string, WebhookRecord>;
  readonly storedErrors: Map<string, StoredErrorRecord>;
  readonly deliveries: Map<string, DeliveryRecord>;
}

/** Books in this process's memory: gone with the process, but not with a sandbox that is closed and started again on them. */
export function memoryStore(): SandboxStore {
  const shelves: Shelves = {
    merchants: new Map(),
    invoices: new Map(),
    bodies: new Map(),
    webhooks: new Map(),
    storedErrors: new Map(),
    deliveries: new Map(),
  };
  return {
    open: async () => readAll(shelves),
    async write(changes) {
      for (const change of changes) put(shelves, change);
    },
    async invoiceBody(id) {
      const body = shelves.bodies.get(id);
      if (body === undefined) throw new Error(`Reading the body of ${id}: it must have been written, and it was not.`);
      return body;
    },
    close: async () => {},
  };
}

function readAll(shelves: Shelves): StoredBooks {
  const invoices = [...shelves.invoices.values()];
  const processing = invoices.filter((invoice) => invoice.status === 'processing');
  return {
    merchants: [...shelves.merchants.values()],
    invoices,
    processingBodies: new Map(processing.map(({ id }) => [id, shelves.bodies.get(id) ?? ''])),
    webhooks: [...shelves.webhooks.values()],
    storedErrors: [...shelves.storedErrors.values()],
    deliveries: [...shelves.deliveries.values()],
  };
}

function put(shelves: Shelves, change: Change): void {
  switch (change.kind) {
    case 'merchant':
      shelves.merchants.set(change.merchant.id, change.merchant);
      return;
    case 'invoice':
      shelves.invoices.set(change.invoice.id, change.invoice);
      shelves.bodies.set(change.invoice.id, change.body);
      return;
    case 'webhook':
      shelves.webhooks.set(change.webhook.id, change.webhook);
      return;
    case 'stored-error':
      shelves.storedErrors.set(
        `${change.storedError.applicationId} ${change.storedError.idempotencyKey}`,
        change.storedError,
      );
      return;
    case 'settlement':
      settle(shelves, change.settlement);
      return;
    case 'delivery':
    case 'delivery-failed':
      shelves.deliveries.set(change.delivery.id, change.delivery);
      return;
    case 'delivery-done':
      shelves.deliveries.delete(change.delivery.id);
      return;
  }
}

function settle(shelves: Shelves, { invoiceId, error, settledAt }: Settlement): void {
  const invoice = shelves.invoices.get(invoiceId);
  if (invoice?.status !== 'processing') return;
  shelves.invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
}
