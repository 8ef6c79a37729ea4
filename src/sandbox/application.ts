import type { Change, DeliveryRecord, InvoiceRecord, MerchantRecord, Settlement, WebhookRecord } from './store.ts';

/** The answer to an Idempotency-Key, kept so that the same request gets the same answer. */
export interface KeptAnswer {
  readonly path: string;
  readonly bodySha256: string;
  readonly createdAt: number;
  /** The id of the invoice or merchant, or null for a stored error. */
  readonly id: string | null;
}

/** The books of one API key. No other key can see them. */
export interface Application {
  readonly id: string;
  readonly invoices: Map<string, InvoiceRecord>;
  readonly merchants: Map<string, MerchantRecord>;
  /** In the order of creation, which is also the order of the list. */
  readonly merchantOrder: MerchantRecord[];
  /** NIFs that are stored, and NIFs whose merchant is being written. */
  readonly nifs: Set<string>;
  nextMerchantPosition: number;
  readonly webhooks: Map<string, WebhookRecord>;
  /** In the order of creation, so that the oldest answers come first. */
  readonly keptAnswers: Map<string, KeptAnswer>;
  readonly keysInFlight: Set<string>;
  /** Number of deliveries given up after the last attempt. */
  deliveriesGivenUp: number;
  readonly deliveriesPending: Map<string, DeliveryRecord>;
}

/** The books of all applications, by the id of the application. */
export type Applications = Map<string, Application>;

/** Returns the application with this id, and creates it if needed. */
export function applicationOf(applications: Applications, id: string): Application {
  const known = applications.get(id);
  if (known !== undefined) return known;
  const fresh: Application = {
    id,
    invoices: new Map(),
    merchants: new Map(),
    merchantOrder: [],
    nifs: new Set(),
    nextMerchantPosition: 0,
    webhooks: new Map(),
    keptAnswers: new Map(),
    keysInFlight: new Set(),
    deliveriesGivenUp: 0,
    deliveriesPending: new Map(),
  };
  applications.set(id, fresh);
  return fresh;
}

/** Restores stored books into memory. */
export async function restoreApplications(changes: AsyncIterable<Change>): Promise<Applications> {
  const applications: Applications = new Map();
  for await (const change of changes) applyChange(applications, change);
  return applications;
}

/** Makes a change visible to all later requests. Call it only after the change is durable. */
export function applyChange(applications: Applications, change: Change): void {
  switch (change.kind) {
    case 'merchant':
      return addMerchant(applicationOf(applications, change.merchant.applicationId), change.merchant);
    case 'invoice': {
      const { invoice } = change;
      const application = applicationOf(applications, invoice.applicationId);
      application.invoices.set(invoice.id, invoice);
      return keep(application, invoice, '/v1/invoices', invoice.id);
    }
    case 'webhook':
      applicationOf(applications, change.webhook.applicationId).webhooks.set(change.webhook.id, change.webhook);
      return undefined;
    case 'stored-error': {
      const { applicationId, path } = change.storedError;
      return keep(applicationOf(applications, applicationId), change.storedError, path, null);
    }
    case 'settlement':
      return settle(applicationOf(applications, change.settlement.applicationId), change.settlement);
    case 'delivery': {
      const { delivery } = change;
      applicationOf(applications, delivery.applicationId).deliveriesPending.set(delivery.id, delivery);
      return undefined;
    }
    case 'delivery-done':
      applicationOf(applications, change.delivery.applicationId).deliveriesPending.delete(change.delivery.id);
      return undefined;
  }
}

function addMerchant(application: Application, merchant: MerchantRecord): void {
  application.merchants.set(merchant.id, merchant);
  application.merchantOrder.push(merchant);
  application.nifs.add(merchant.nif);
  application.nextMerchantPosition = Math.max(application.nextMerchantPosition, merchant.position + 1);
  keep(application, merchant, '/v1/merchants', merchant.id);
}

function keep(
  { keptAnswers }: Application,
  {
    idempotencyKey,
    bodySha256,
    createdAt,
  }: Omit<KeptAnswer, 'path' | 'id'> & { readonly idempotencyKey: string | null },
  path: string,
  id: string | null,
): void {
  if (idempotencyKey !== null) keptAnswers.set(idempotencyKey, { path, bodySha256, createdAt, id });
}

/** Only the first verdict on an invoice counts. */
function settle({ invoices }: Application, { invoiceId, error, settledAt }: Settlement): void {
  const invoice = invoices.get(invoiceId);
  if (invoice?.status !== 'processing') return;
  invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
}
