import type { Change, DeliveryRecord, InvoiceRecord, MerchantRecord, WebhookRecord } from './store.ts';
import { createdInvoiceAnswer, merchantAnswer, storedErrorAnswer, type Answer } from './http/answer.ts';
import { createHash } from 'node:crypto';

/** The answer to an Idempotency-Key, kept so that the same request gets the same answer. */
interface KeptAnswer {
  readonly path: string;
  readonly bodySha256: string;
  readonly createdAt: number;
  readonly answer: () => Answer;
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
export function applyChange(applications: Applications, { kind, record }: Change): void {
  const application = applicationOf(applications, record.applicationId);
  switch (kind) {
    case 'merchant':
      application.merchants.set(record.id, record);
      application.nifs.add(record.nif);
      return keep(application, record, '/v1/merchants', () => merchantAnswer(record));
    case 'invoice':
      application.invoices.set(record.id, record);
      if (record.status !== 'processing') return;
      return keep(application, record, '/v1/invoices', () => createdInvoiceAnswer(record));
    case 'webhook':
      return void application.webhooks.set(record.id, record);
    case 'stored-error':
      return keep(application, record, record.path, storedErrorAnswer);
    case 'delivery':
      return void application.deliveriesPending.set(record.id, record);
    case 'delivery-done':
      return void application.deliveriesPending.delete(record.id);
  }
}

type Created = Pick<MerchantRecord, 'idempotencyKey' | 'bodySha256' | 'createdAt'>;

function keep({ keptAnswers }: Application, created: Created, path: string, answer: () => Answer): void {
  const { idempotencyKey, bodySha256, createdAt } = created;
  if (idempotencyKey !== null) keptAnswers.set(idempotencyKey, { path, bodySha256, createdAt, answer });
}

const TEST_KEY = /^[Bb]earer +(?<key>sk_test_[A-Za-z0-9_-]{1,128})$/;

/** Returns the id of the application of an Authorization header; null if its key is none of `keys`. */
export function applicationIn(authorization: string | undefined, keys: readonly string[] | 'any'): string | null {
  const key = TEST_KEY.exec(authorization ?? '')?.groups?.['key'];
  return key === undefined || (keys !== 'any' && !keys.includes(key)) ? null : applicationIdOf(key);
}

/** Returns the application id of a key: a hash, so that the books contain no key. */
export function applicationIdOf(key: string): string {
  return `app_${createHash('sha256').update(key).digest('hex').slice(0, 16)}`;
}
