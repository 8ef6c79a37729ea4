import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restoreApplications } from '../../../../src/sandbox/application.ts';
import { fileStore } from '../../../../src/sandbox/file-store.ts';
import {
  memoryStore,
  type Change,
  type DeliveryRecord,
  type InvoiceRecord,
  type MerchantRecord,
  type SandboxStore,
  type WebhookRecord,
} from '../../../../src/sandbox/store.ts';

const directory = await mkdtemp(join(tmpdir(), 'lote-sandbox-'));
afterAll(() => rm(directory, { recursive: true }));

// Characters that a JSON layer might take for its own.
const AWKWARD = '{"customer":{"name":"Ção \\u0000 \\"quoted\\" \\\\ {a,b} \' 漢字 \\ud83d"},"n":0.10}';

function invoice(id: string): InvoiceRecord {
  return {
    ...{ id, applicationId: 'app_1', merchantId: 'mrc_1', idempotencyKey: `key ${id}`, bodySha256: `sha ${id}` },
    ...{ createdAt: 1_780_000_000_123, status: 'processing', error: null, settledAt: null, body: AWKWARD },
  };
}

const MERCHANT: MerchantRecord = {
  ...{ id: 'mrc_1', applicationId: 'app_1', nif: '5417000001', idempotencyKey: null },
  ...{ body: AWKWARD, bodySha256: 'sha', createdAt: 1_780_000_000_000 },
};
const DELIVERY: DeliveryRecord = {
  ...{ id: 'dlv_1', applicationId: 'app_1', webhookId: 'whk_1', invoiceId: 'inv_1', body: AWKWARD },
  ...{ forged: true, attempts: 0, nextAttemptAt: 1_780_000_000_999 },
};
const WEBHOOK: WebhookRecord = {
  ...{ id: 'whk_1', applicationId: 'app_1', url: 'https://example.test/', events: ['invoice.issued'] },
  ...{ secret: 'whsec_1', createdAt: 1_780_000_000_000 },
};
const STORED_ERROR = {
  applicationId: 'app_1',
  idempotencyKey: 'k',
  path: '/v1/invoices',
  bodySha256: 's',
  createdAt: 5,
};
const FIRST: readonly Change[] = [
  { kind: 'merchant', merchant: MERCHANT },
  { kind: 'invoice', invoice: invoice('inv_1') },
  { kind: 'invoice', invoice: invoice('inv_2') },
  { kind: 'webhook', webhook: WEBHOOK },
  { kind: 'stored-error', storedError: STORED_ERROR },
  { kind: 'delivery', delivery: DELIVERY },
];

async function allOf(changes: AsyncIterable<Change>): Promise<readonly Change[]> {
  const all: Change[] = [];
  for await (const change of changes) all.push(change);
  return all;
}

const inMemory = memoryStore();

describe.each([
  ['memory', () => inMemory],
  ['file', () => fileStore({ directory })],
])('a %s store', (_, again) => {
  let store: SandboxStore;

  beforeAll(async () => {
    store = again();
    await allOf(store.open());
  });
  afterAll(() => store.close());

  it('gives back everything that was written, in its order', async () => {
    await store.write(FIRST);
    const many = Array.from({ length: 1000 }, (_each, at): Change => ({
      ...{ kind: 'invoice', invoice: invoice(`inv_many_${at}`) },
    }));
    await Promise.all(many.map((change) => store.write([change])));
    await store.close();
    store = again();

    expect(await allOf(store.open())).toEqual([...FIRST, ...many]);
  });
});

describe('a file store', () => {
  it('belongs to one sandbox at a time', async () => {
    const store = fileStore({ directory });
    await expect(store.write(FIRST)).rejects.toThrow('must be open');
    await allOf(store.open());
    await expect(allOf(fileStore({ directory }).open())).rejects.toThrow('one process may use it at a time');
    await store.close();
    await expect(store.write(FIRST)).rejects.toThrow('must be open');
  });

  it('refuses books of an earlier build, whose invoices lack their request, and releases the directory', async () => {
    const store = fileStore({ directory: join(directory, 'earlier') });
    await allOf(store.open());
    const { body, ...record } = invoice('inv_1');
    await store.write([{ kind: 'invoice', invoice: record, body } as never]);
    await store.close();

    await expect(allOf(store.open())).rejects.toThrow("Remove the sandbox's directory");
    await expect(allOf(store.open())).rejects.toThrow("Remove the sandbox's directory");
  });
});

it('books that are restored have the first final word of an invoice, the last word of all else, and what is still owed', async () => {
  const settlement = { applicationId: 'app_1', invoiceId: 'inv_1', error: null, settledAt: 7 };
  const later = { ...DELIVERY, attempts: 3 };
  const gone = { ...DELIVERY, id: 'dlv_2' };
  const store = memoryStore();
  await store.write([
    ...FIRST,
    { kind: 'settlement', settlement },
    { kind: 'settlement', settlement: { ...settlement, error: { code: 'no', message: 'No.' } } },
    { kind: 'webhook', webhook: { ...WEBHOOK, events: ['invoice.failed'] } },
    { kind: 'stored-error', storedError: { ...STORED_ERROR, bodySha256: 'other' } },
    { kind: 'delivery', delivery: later },
    { kind: 'delivery', delivery: gone },
    { kind: 'delivery-done', delivery: gone },
  ]);

  const books = (await restoreApplications(store.open())).get('app_1');

  expect(books?.invoices.get('inv_1')).toEqual({ ...invoice('inv_1'), status: 'issued', settledAt: 7 });
  expect(books?.webhooks.get('whk_1')?.events).toEqual(['invoice.failed']);
  expect(books?.keptAnswers.get('k')?.bodySha256).toBe('other');
  expect([...(books?.deliveriesPending.values() ?? [])]).toEqual([later]);
  expect([...(books?.merchants.values() ?? [])]).toEqual([MERCHANT]);
});
