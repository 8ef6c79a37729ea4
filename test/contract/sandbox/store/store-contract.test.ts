import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  DeliveryRecord,
  InvoiceRecord,
  MerchantRecord,
  StoredErrorRecord,
  WebhookRecord,
} from '../../../../src/sandbox/records.ts';
import { memoryStore } from '../../../../src/sandbox/store/memory-store.ts';
import { fileStore } from '../../../../src/sandbox/store/file-store.ts';
import { postgresStore } from '../../../../src/sandbox/store/postgres-store.ts';
import type { SandboxStore } from '../../../../src/sandbox/store/sandbox-store.ts';
import { postgresSchema, postgresUrl } from '../../../support/servers/postgres-schema.ts';

interface Place {
  /** A store on the same books as the one before it. */
  readonly again: () => SandboxStore;
  readonly remove: () => Promise<void>;
}

async function memoryPlace(): Promise<Place> {
  const store = memoryStore();
  return { again: () => store, remove: async () => {} };
}

async function filePlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'lote-sandbox-'));
  return { again: () => fileStore({ directory }), remove: () => rm(directory, { recursive: true }) };
}

async function postgresPlace(connectionString: string): Promise<Place> {
  const { schema, drop } = postgresSchema(connectionString);
  return { again: () => postgresStore({ connectionString, schema }), remove: drop };
}

const databaseUrl = postgresUrl();
const LASTING_PLACES: readonly [string, () => Promise<Place>][] = [
  ['file', filePlace],
  // A machine without PostgreSQL has been told so by the global set-up.
  ...(databaseUrl === null
    ? []
    : [['PostgreSQL', () => postgresPlace(databaseUrl)] satisfies [string, () => Promise<Place>]]),
];
const PLACES: readonly [string, () => Promise<Place>][] = [['memory', memoryPlace], ...LASTING_PLACES];

// Characters that a driver or a JSON layer might take for its own.
const AWKWARD = '{"customer":{"name":"Ção \\u0000 \\"quoted\\" \\\\ {a,b} \' 漢字 \\ud83d"},"n":0.10}';

function invoice(id: string, changes: Partial<InvoiceRecord> = {}): InvoiceRecord {
  return {
    id,
    applicationId: 'app_1',
    merchantId: 'mrc_1',
    idempotencyKey: `key ${id}`,
    bodySha256: `sha ${id}`,
    createdAt: 1_780_000_000_123,
    status: 'processing',
    error: null,
    settledAt: null,
    ...changes,
  };
}

const MERCHANT: MerchantRecord = {
  id: 'mrc_1',
  applicationId: 'app_1',
  nif: '5417000001',
  position: 0,
  idempotencyKey: null,
  body: AWKWARD,
  bodySha256: 'sha',
  createdAt: 1_780_000_000_000,
};

const DELIVERY: DeliveryRecord = {
  id: 'dlv_1',
  applicationId: 'app_1',
  webhookId: 'whk_1',
  invoiceId: 'inv_1',
  body: AWKWARD,
  forged: true,
  attempts: 0,
  nextAttemptAt: 1_780_000_000_999,
};

const WEBHOOK: WebhookRecord = {
  id: 'whk_1',
  applicationId: 'app_1',
  url: 'https://example.test/',
  events: ['invoice.issued'],
  secret: 'whsec_1',
  createdAt: 1_780_000_000_000,
};

const STORED_ERROR: StoredErrorRecord = {
  applicationId: 'app_1',
  idempotencyKey: 'k',
  path: '/v1/invoices',
  bodySha256: 's',
  createdAt: 5,
};

describe.each(PLACES)('a %s store', (_, makePlace) => {
  let place: Place;
  let store: SandboxStore;

  async function reopened(): Promise<Awaited<ReturnType<SandboxStore['open']>>> {
    await store.close();
    store = place.again();
    return store.open();
  }

  beforeAll(async () => {
    place = await makePlace();
    store = place.again();
    await store.open();
  });

  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  it('gives back everything that was written', async () => {
    await store.write([
      { kind: 'merchant', merchant: MERCHANT },
      { kind: 'invoice', invoice: invoice('inv_1'), body: AWKWARD },
      { kind: 'invoice', invoice: invoice('inv_2', { idempotencyKey: null }), body: '{}' },
      { kind: 'webhook', webhook: WEBHOOK },
      { kind: 'stored-error', storedError: STORED_ERROR },
      { kind: 'delivery', delivery: DELIVERY },
    ]);

    const books = await reopened();

    expect(books.merchants).toEqual([MERCHANT]);
    expect(books.invoices).toEqual([invoice('inv_1'), invoice('inv_2', { idempotencyKey: null })]);
    expect([...books.processingBodies]).toEqual([
      ['inv_1', AWKWARD],
      ['inv_2', '{}'],
    ]);
    expect(books.webhooks).toEqual([WEBHOOK]);
    expect(books.storedErrors).toEqual([STORED_ERROR]);
    expect(books.deliveries).toEqual([DELIVERY]);
    expect(await store.invoiceBody('inv_1')).toBe(AWKWARD);
  });

  it('settles an invoice once: the second word changes nothing', async () => {
    const error = { code: 'no', message: 'No.' };
    const settlement = { applicationId: 'app_1', invoiceId: 'inv_1', error, settledAt: 1_780_000_001_000 };
    await store.write([{ kind: 'settlement', settlement }]);
    await store.write([{ kind: 'settlement', settlement: { ...settlement, error: null, settledAt: 1 } }]);
    await store.write([{ kind: 'settlement', settlement: { ...settlement, invoiceId: 'inv_2', error: null } }]);

    const { invoices, processingBodies } = await reopened();

    expect(invoices.find(({ id }) => id === 'inv_1')).toEqual(
      invoice('inv_1', { status: 'failed', error, settledAt: 1_780_000_001_000 }),
    );
    expect(invoices.find(({ id }) => id === 'inv_2')?.status).toBe('issued');
    expect(processingBodies.size).toBe(0);
  });

  it('follows a delivery to its end, also within one group', async () => {
    const later = { ...DELIVERY, attempts: 3, nextAttemptAt: 1_780_000_009_000 };
    const gone = { ...DELIVERY, id: 'dlv_2' };
    const brief = { ...DELIVERY, id: 'dlv_3' };
    await store.write([{ kind: 'delivery', delivery: gone }]);
    await store.write([
      { kind: 'delivery-done', delivery: gone },
      { kind: 'delivery-failed', delivery: later },
      { kind: 'delivery', delivery: brief },
      { kind: 'delivery-done', delivery: brief },
    ]);

    expect((await reopened()).deliveries).toEqual([later]);
  });

  it('replaces the events of a webhook and a stored error of the same key', async () => {
    await store.write([{ kind: 'webhook', webhook: { ...WEBHOOK, events: ['invoice.failed'] } }]);
    await store.write([{ kind: 'stored-error', storedError: { ...STORED_ERROR, bodySha256: 'other' } }]);

    const books = await reopened();

    expect(books.webhooks).toEqual([{ ...WEBHOOK, events: ['invoice.failed'] }]);
    expect(books.storedErrors).toEqual([{ ...STORED_ERROR, bodySha256: 'other' }]);
  });

  it('writes a group of a thousand', async () => {
    await store.write(
      Array.from({ length: 1000 }, (_each, index) => ({
        kind: 'invoice' as const,
        invoice: invoice(`inv_many_${index}`),
        body: `{"n":${index}}`,
      })),
    );

    expect(await store.invoiceBody('inv_many_999')).toBe('{"n":999}');
    expect((await reopened()).invoices).toHaveLength(1002);
  });

  it('says which body it does not have', async () => {
    await expect(store.invoiceBody('inv_none')).rejects.toThrow('inv_none');
  });
});

describe.each(LASTING_PLACES)('a %s store that outlives its process', (_, makePlace) => {
  let place: Place;

  beforeAll(async () => {
    place = await makePlace();
  });

  afterAll(() => place.remove());

  it('belongs to one sandbox at a time, and writes all of a group or nothing', async () => {
    const store = place.again();
    await expect(store.invoiceBody('inv_1')).rejects.toThrow('must be open');
    await store.open();
    await store.write([{ kind: 'merchant', merchant: MERCHANT }]);
    await expect(place.again().open()).rejects.toThrow('one process may use it at a time');

    const writing = store.write([
      { kind: 'invoice', invoice: invoice('inv_1'), body: '{}' },
      { kind: 'delivery', delivery: DELIVERY },
      { kind: 'merchant', merchant: MERCHANT },
    ]);

    await expect(writing).rejects.toThrow(/duplicate key/);
    await store.close();
    await expect(store.write([{ kind: 'delivery', delivery: DELIVERY }])).rejects.toThrow('must be open');
    const again = place.again();
    const books = await again.open();
    await again.close();
    expect(books.invoices).toEqual([]);
    expect(books.deliveries).toEqual([]);
  });
});

describe('a PostgreSQL store', () => {
  it.each(['Lote', 'a-b', 'a"b', '1a', ''])('refuses %j as a schema', (schema) => {
    expect(() => postgresStore({ connectionString: 'postgres://127.0.0.1/none', schema })).toThrow('schema name');
  });
});
