import type { DeliveryRecord, InvoiceRecord, MerchantRecord, StoredErrorRecord, WebhookRecord } from './records.ts';
import type { Change, Settlement, StoredBooks } from './store/sandbox-store.ts';

/** What was answered to an Idempotency-Key, kept so that the same request gets the same answer. */
export interface KeptAnswer {
  readonly path: string;
  readonly bodySha256: string;
  readonly createdAt: number;
  readonly outcome:
    | { readonly kind: 'invoice'; readonly id: string }
    | { readonly kind: 'merchant'; readonly id: string }
    | { readonly kind: 'error' };
}

/** One API key's world: nothing in it is visible to another key. */
export interface Application {
  readonly id: string;
  readonly invoices: Map<string, InvoiceRecord>;
  readonly merchants: Map<string, MerchantRecord>;
  /** In the order of creation: the order of the list. */
  readonly merchantOrder: MerchantRecord[];
  /** NIFs that are stored, and NIFs whose creation is being written. */
  readonly nifs: Set<string>;
  nextMerchantPosition: number;
  readonly webhooks: Map<string, WebhookRecord>;
  /** In the order of creation, so that what is too old stands in front. */
  readonly keptAnswers: Map<string, KeptAnswer>;
  readonly keysInFlight: Set<string>;
  /** Deliveries given up after the last try. */
  deliveriesGivenUp: number;
  readonly deliveriesPending: Map<string, DeliveryRecord>;
}

/** The books of all applications, by the id of the application. */
export type Applications = Map<string, Application>;

/** The application of that id, made on first sight. */
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

/** Brings stored books back into memory. */
export function restoreApplications(books: StoredBooks): Applications {
  const applications: Applications = new Map();
  for (const merchant of books.merchants) addMerchant(applications, merchant);
  for (const invoice of books.invoices) addInvoice(applications, invoice);
  for (const webhook of books.webhooks) addWebhook(applications, webhook);
  for (const storedError of books.storedErrors) addStoredError(applications, storedError);
  for (const delivery of books.deliveries) addDelivery(applications, delivery);
  for (const application of applications.values()) sortKeptAnswers(application);
  return applications;
}

/** Shows a change to the requests that come from now on; call it only after the change is durable. */
export function applyChange(applications: Applications, change: Change): void {
  switch (change.kind) {
    case 'merchant':
      addMerchant(applications, change.merchant);
      return;
    case 'invoice':
      addInvoice(applications, change.invoice);
      return;
    case 'webhook':
      addWebhook(applications, change.webhook);
      return;
    case 'stored-error':
      addStoredError(applications, change.storedError);
      return;
    case 'settlement':
      settle(applications, change.settlement);
      return;
    case 'delivery':
    case 'delivery-failed':
      addDelivery(applications, change.delivery);
      return;
    case 'delivery-done':
      applicationOf(applications, change.delivery.applicationId).deliveriesPending.delete(change.delivery.id);
      return;
  }
}

function addMerchant(applications: Applications, merchant: MerchantRecord): void {
  const application = applicationOf(applications, merchant.applicationId);
  application.merchants.set(merchant.id, merchant);
  application.merchantOrder.push(merchant);
  application.nifs.add(merchant.nif);
  application.nextMerchantPosition = Math.max(application.nextMerchantPosition, merchant.position + 1);
  keep(application, merchant, { path: '/v1/merchants', outcome: { kind: 'merchant', id: merchant.id } });
}

function addInvoice(applications: Applications, invoice: InvoiceRecord): void {
  const application = applicationOf(applications, invoice.applicationId);
  application.invoices.set(invoice.id, invoice);
  keep(application, invoice, { path: '/v1/invoices', outcome: { kind: 'invoice', id: invoice.id } });
}

function addWebhook(applications: Applications, webhook: WebhookRecord): void {
  applicationOf(applications, webhook.applicationId).webhooks.set(webhook.id, webhook);
}

function addDelivery(applications: Applications, delivery: DeliveryRecord): void {
  applicationOf(applications, delivery.applicationId).deliveriesPending.set(delivery.id, delivery);
}

function addStoredError(applications: Applications, record: StoredErrorRecord): void {
  const application = applicationOf(applications, record.applicationId);
  keep(application, record, { path: record.path, outcome: { kind: 'error' } });
}

interface KeyedRecord {
  readonly idempotencyKey: string | null;
  readonly bodySha256: string;
  readonly createdAt: number;
}

function keep(application: Application, record: KeyedRecord, answer: Pick<KeptAnswer, 'path' | 'outcome'>): void {
  const { idempotencyKey, bodySha256, createdAt } = record;
  if (idempotencyKey !== null) application.keptAnswers.set(idempotencyKey, { ...answer, bodySha256, createdAt });
}

function sortKeptAnswers(application: Application): void {
  const sorted = [...application.keptAnswers].toSorted(([, a], [, b]) => a.createdAt - b.createdAt);
  application.keptAnswers.clear();
  for (const [key, answer] of sorted) application.keptAnswers.set(key, answer);
}

function settle(applications: Applications, { applicationId, invoiceId, error, settledAt }: Settlement): void {
  const { invoices } = applicationOf(applications, applicationId);
  const invoice = invoices.get(invoiceId);
  if (invoice === undefined) return;
  invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
}
