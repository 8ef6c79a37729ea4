import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { restoreApplications } from '../../../src/sandbox/application.ts';
import {
  fileStore,
  memoryStore,
  type Change,
  type DeliveryRecord,
  type InvoiceRecord,
  type MerchantRecord,
  type SandboxStore,
  type WebhookRecord,
} from '../../../src/sandbox/store.ts';
import { call, errorOf, invoiceFor, merchantIn, postInvoice } from '../../unit/sandbox/support/client.ts';
import { owedIn, receiver, register, sandbox } from '../../unit/sandbox/support/fixtures.ts';
import { compiledProcess } from '../../support/compiled-process.ts';

const PROCESS = await compiledProcess(new URL('sandbox-process.ts', import.meta.url));
const directory = await mkdtemp(join(tmpdir(), 'lote-sandbox-'));
afterAll(() => rm(directory, { recursive: true }));

async function startProcess() {
  const child = spawn(process.execPath, [PROCESS, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: String(line).trim() };
}

async function allOf(store: SandboxStore): Promise<readonly Change[]> {
  const all: Change[] = [];
  for await (const change of store.open()) all.push(change);
  return all;
}

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
  { kind: 'merchant', record: MERCHANT },
  { kind: 'invoice', record: invoice('inv_1') },
  { kind: 'invoice', record: invoice('inv_2') },
  { kind: 'webhook', record: WEBHOOK },
  { kind: 'stored-error', record: STORED_ERROR },
  { kind: 'delivery', record: DELIVERY },
];

/** Opens the store, counts the invoices that were written into it, and closes it. */
async function invoicesInFile(): Promise<number> {
  const store = fileStore({ directory });
  const changes = await allOf(store);
  await store.close();
  return changes.filter(({ kind }) => kind === 'invoice').length;
}

describe('a sandbox on a file store', () => {
  it('has every answered invoice, and settles it, after SIGKILL in the middle of many', async () => {
    const { child, url } = await startProcess();
    const merchantId = await merchantIn(url);
    const answered = new Map<string, string>();
    async function sendUntilDead(sender: number): Promise<void> {
      for (let count = 0; ; count += 1) {
        const key = `${sender}-${count}`;
        const body = invoiceFor(merchantId, { customer: key });
        const reply = await postInvoice(url, body, key).catch(() => null);
        if (reply === null) return;
        answered.set(key, String(reply.json['id']));
        if (answered.size === 200) child.kill('SIGKILL');
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, sender) => sendUntilDead(sender)));
    if (child.signalCode === null) await once(child, 'exit');

    const box = await sandbox({ store: fileStore({ directory }), settleMs: 1 });

    const { invoices, duplicates } = box.books();
    const byKey = new Map(invoices.map(({ idempotencyKey, id }) => [idempotencyKey, id]));
    expect(answered.size).toBeGreaterThanOrEqual(200);
    for (const [key, id] of answered) expect(byKey.get(key)).toBe(id);
    expect(duplicates).toEqual([]);
    await expect.poll(() => box.books().totals.processing).toBe(0);
    expect(box.books().totals.issued).toBe(invoices.length);
    const [key = '', id] = [...answered][0] ?? [];
    const body = invoiceFor(merchantId, { customer: key });
    expect((await postInvoice(box.url, body, key)).json['id']).toBe(id);
  });

  it('keeps its directory for itself until its process is gone', async () => {
    const { child } = await startProcess();
    await expect(invoicesInFile()).rejects.toThrow('one process may use it at a time');

    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;

    expect(await invoicesInFile()).toBeGreaterThan(0);
  });

  it('ignores a group that its process did not finish, and keeps what stands before and after it', async () => {
    const before = await invoicesInFile();
    const journal = join(directory, 'books.jsonl');
    await writeFile(journal, `${await readFile(journal, 'utf8')}\n[{"kind":"merchant","merch`);
    const store = fileStore({ directory });
    await allOf(store);
    await store.write([{ kind: 'invoice', record: invoice('inv_after') }]);
    await store.close();
    await expect(store.write([])).rejects.toThrow('must be open');

    expect(await invoicesInFile()).toBe(before + 1);
  });
});

it.each([
  ['memory', memoryStore()],
  ['file', fileStore({ directory: join(directory, 'order') })],
])('a %s store gives back everything that was written, in its order', async (_, store) => {
  await allOf(store);
  await store.write(FIRST);
  const many = Array.from({ length: 1000 }, (_each, at): Change => ({
    ...{ kind: 'invoice', record: invoice(`inv_many_${at}`) },
  }));
  await Promise.all(many.map((change) => store.write([change])));
  await store.close();

  expect(await allOf(store)).toEqual([...FIRST, ...many]);
  await store.close();
});

it('books that are restored have the last word of each record, the first answer of each key, and what is still owed', async () => {
  const issued = { ...invoice('inv_1'), status: 'issued' as const, settledAt: 7 };
  const later = { ...DELIVERY, attempts: 3 };
  const gone = { ...DELIVERY, id: 'dlv_2' };
  const store = memoryStore();
  await store.write([
    ...FIRST,
    { kind: 'invoice', record: issued },
    { kind: 'webhook', record: { ...WEBHOOK, events: ['invoice.failed'] } },
    { kind: 'stored-error', record: { ...STORED_ERROR, bodySha256: 'other' } },
    { kind: 'delivery', record: later },
    { kind: 'delivery', record: gone },
    { kind: 'delivery-done', record: gone },
  ]);

  const books = (await restoreApplications(store.open())).get('app_1');

  expect(books?.invoices.get('inv_1')).toEqual(issued);
  expect(books?.keptAnswers.get('key inv_1')?.answer().body).toContain('"status":"processing"');
  expect(books?.webhooks.get('whk_1')?.events).toEqual(['invoice.failed']);
  expect(books?.keptAnswers.get('k')?.bodySha256).toBe('other');
  expect([...(books?.deliveriesPending.values() ?? [])]).toEqual([later]);
  expect([...(books?.merchants.values() ?? [])]).toEqual([MERCHANT]);
});

describe('a restart', () => {
  it('keeps a merchant refused twice, a webhook registered once, and a settled invoice settled', async () => {
    const store = memoryStore();
    const first = await sandbox({ store });
    const merchantId = await merchantIn(first.url, '7');
    const hooks = await receiver();
    const secret = await register(first.url, hooks.url);
    const created = await postInvoice(first.url, invoiceFor(merchantId), 'k');
    await expect.poll(() => first.books().totals.deliveriesPending + first.books().totals.processing).toBe(0);
    await first.close();
    const second = await sandbox({ store });

    const body = { legal_name: 'M', nif: '7', email: 'a@b.test' };
    const twice = await call(second.url, 'POST', '/v1/merchants', { body, key: 'other' });
    const again = await postInvoice(second.url, invoiceFor(merchantId), 'k');
    const read = await call(second.url, 'GET', `/v1/invoices/${String(created.json['id'])}`);

    expect(twice.status).toBe(409);
    expect(again.text).toBe(created.text);
    expect(read.json).toMatchObject({ id: created.json['id'], status: 'issued' });
    expect(await register(second.url, hooks.url)).toBe(secret);
    expect(second.books().totals).toMatchObject({ invoices: 1, webhooks: 1, issued: 1 });
    expect(hooks.received, 'what arrived is not sent again').toHaveLength(1);
  });
});

it('a store that fails leaves no invoice behind a 500, the key is free for the next try, and the log holds no name, number or key', async () => {
  const lines: unknown[] = [];
  const write = (message: string, fields?: unknown): void => void lines.push({ message, fields });
  const inner = memoryStore();
  let broken = 1;
  const store: SandboxStore = {
    ...inner,
    async write(changes) {
      if (changes.some(({ kind }) => kind === 'invoice') && broken-- > 0) throw new Error('no room for this invoice');
      await inner.write(changes);
    },
  };
  const box = await sandbox({ store, log: { info: write, warn: write, error: write } });
  await register(box.url, (await receiver(() => ({ status: 500 }))).url);
  const body = invoiceFor(await merchantIn(box.url, '5417000001'), { customer: 'Maria Secreta' });

  const first = await postInvoice(box.url, body, 'key-of-the-client');
  const second = await postInvoice(box.url, body, 'key-of-the-client');

  expect([first.status, second.status]).toEqual([500, 201]);
  expect(errorOf(first)['code']).toBe('internal_error');
  expect(box.books().totals.invoices).toBe(1);
  await expect.poll(() => box.books().totals.deliveriesGivenUp).toBe(1);
  const text = JSON.stringify(lines);
  for (const secret of ['Maria', '5417000001', '123456789', 'key-of-the-client', 'sk_test_', 'whsec_'])
    expect(text).not.toContain(secret);
  expect(text).toContain('no room for this invoice');
  expect(text).toContain('A webhook delivery is given up.');
});

describe('closing', () => {
  it('lets the request that is being answered end', async () => {
    const box = await sandbox({ latencyMs: 100 });
    const listing = call(box.url, 'GET', '/v1/merchants');
    const health = await call(box.url, 'GET', '/_sandbox/health');
    expect(health.status).toBe(200);

    await box.close();

    expect((await listing).status).toBe(200);
    await expect(call(box.url, 'GET', '/v1/merchants')).rejects.toThrow('fetch failed');
  });

  it('leaves a delivery that was on the wire owed', async () => {
    const store = memoryStore();
    const box = await sandbox({ store });
    const hanging = await receiver(() => new Promise(() => {}));
    await register(box.url, hanging.url);
    await postInvoice(box.url, invoiceFor(await merchantIn(box.url)));
    await expect.poll(() => hanging.received.length).toBe(1);

    await box.close();

    expect(await owedIn(store)).toHaveLength(1);
  });
});
