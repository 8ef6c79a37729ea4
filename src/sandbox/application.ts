import type { Change, DeliveryRecord, InvoiceRecord, MerchantRecord, Settled, WebhookRecord } from './store.ts';
import { createHash } from 'node:crypto';

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
  /** In the order of creation, which is also the order of the list. */
  readonly merchants: Map<string, MerchantRecord>;
  /** NIFs that are stored, and NIFs whose merchant is being written. */
  readonly nifs: Set<string>;
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
    nifs: new Set(),
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
  const owner = ({ applicationId }: { readonly applicationId: string }) => applicationOf(applications, applicationId);
  switch (change.kind) {
    case 'merchant': {
      const { merchant } = change;
      owner(merchant).merchants.set(merchant.id, merchant);
      owner(merchant).nifs.add(merchant.nif);
      return keep(owner(merchant), merchant, '/v1/merchants', merchant.id);
    }
    case 'invoice': {
      const { invoice } = change;
      owner(invoice).invoices.set(invoice.id, invoice);
      return keep(owner(invoice), invoice, '/v1/invoices', invoice.id);
    }
    case 'webhook':
      return void owner(change.webhook).webhooks.set(change.webhook.id, change.webhook);
    case 'stored-error':
      return keep(owner(change.storedError), change.storedError, change.storedError.path, null);
    case 'settlement':
      return settle(owner(change.settlement), change.settlement);
    case 'delivery':
      return void owner(change.delivery).deliveriesPending.set(change.delivery.id, change.delivery);
    case 'delivery-done':
      return void owner(change.delivery).deliveriesPending.delete(change.delivery.id);
  }
}

type Created = Pick<MerchantRecord, 'idempotencyKey' | 'bodySha256' | 'createdAt'>;

function keep({ keptAnswers }: Application, created: Created, path: string, id: string | null): void {
  const { idempotencyKey, bodySha256, createdAt } = created;
  if (idempotencyKey !== null) keptAnswers.set(idempotencyKey, { path, bodySha256, createdAt, id });
}

/** Only the first verdict on an invoice counts. */
function settle({ invoices }: Application, { invoiceId, error, settledAt }: Settled): void {
  const invoice = invoices.get(invoiceId);
  if (invoice?.status !== 'processing') return;
  invoices.set(invoiceId, { ...invoice, status: error === null ? 'issued' : 'failed', error, settledAt });
}

const TEST_KEY = /^sk_test_[A-Za-z0-9_-]{1,128}$/;

/** Returns the id of the application of an Authorization header, or null. */
export type ApiKeys = (authorization: string | undefined) => string | null;

/** Each listed key is one application, and with `isOpen` every key of the form. @throws if a listed key lacks the form. */
export function apiKeys(keys: readonly string[], isOpen: boolean): ApiKeys {
  if (!keys.every((key) => TEST_KEY.test(key)))
    throw new Error('Starting the sandbox: every API key must be `sk_test_` and 1 to 128 letters, digits, - or _.');
  const known = new Map(keys.map((key) => [key, applicationIdOf(key)]));
  return (authorization) => {
    const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
    return known.get(key) ?? (isOpen && TEST_KEY.test(key) ? applicationIdOf(key) : null);
  };
}

/** Returns the application id of a key: a hash, so that the books contain no key. */
export function applicationIdOf(key: string): string {
  return `app_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
