import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { pgliteStore } from '../../../../src/sandbox/store/pglite-store.ts';
import { call, invoiceFor, merchantIn } from '../support/client.ts';
import { sandbox } from '../support/fixtures.ts';

const PROCESS = fileURLToPath(new URL('../support/sandbox-process.ts', import.meta.url));

async function startProcess(directory: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, ['--import', 'tsx', PROCESS, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const { stdout } = child;
  const url = await new Promise<string>((resolve) => stdout.once('data', (line) => resolve(String(line).trim())));
  return { child, url };
}

describe('a sandbox on PGlite', () => {
  // One directory for all: making a new one takes seconds.
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'lote-sandbox-'));
  });

  afterAll(() => rm(directory, { recursive: true }));

  it('has every answered invoice, and settles it, after SIGKILL in the middle of many', async () => {
    const { child, url } = await startProcess(directory);
    const merchantId = await merchantIn(url);
    const answered = new Map<string, string>();
    async function sendUntilDead(sender: number): Promise<void> {
      for (let count = 0; ; count += 1) {
        const key = `${sender}-${count}`;
        const body = invoiceFor(merchantId, { customer: key });
        const reply = await call(url, 'POST', '/v1/invoices', { body, key }).catch(() => null);
        if (reply === null) return;
        answered.set(key, String(reply.json['id']));
        if (answered.size === 200) child.kill('SIGKILL');
      }
    }
    await Promise.all(Array.from({ length: 16 }, (_, sender) => sendUntilDead(sender)));
    if (child.signalCode === null) await once(child, 'exit');

    const box = await sandbox({ store: pgliteStore({ directory }), settleMs: 1 });

    const { invoices, duplicates } = box.books();
    const byKey = new Map(invoices.map(({ idempotencyKey, id }) => [idempotencyKey, id]));
    expect(answered.size).toBeGreaterThanOrEqual(200);
    for (const [key, id] of answered) expect(byKey.get(key)).toBe(id);
    expect(duplicates).toEqual([]);
    await expect.poll(() => box.books().totals.processing, { timeout: 20_000 }).toBe(0);
    expect(box.books().totals.issued).toBe(invoices.length);
    const [key = '', id] = [...answered][0] ?? [];
    const body = invoiceFor(merchantId, { customer: key });
    expect((await call(box.url, 'POST', '/v1/invoices', { body, key })).json['id']).toBe(id);
  });

  it('keeps its directory for itself until its process is gone', async () => {
    const { child } = await startProcess(directory);
    await expect(pgliteStore({ directory }).open()).rejects.toThrow('another one does');

    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;

    const store = pgliteStore({ directory });
    await expect(store.open()).resolves.toMatchObject({ webhooks: [] });
    await store.close();
  });

  it('does not keep the timers of its process waiting', async () => {
    const store = pgliteStore({ directory });
    await store.open();
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    const merchant = {
      id: 'mrc_0',
      applicationId: 'app_1',
      nif: '0',
      position: 0,
      idempotencyKey: null,
      body: '{}',
      bodySha256: '',
      createdAt: 0,
    };

    for (let count = 0; count < 300; count += 1) {
      await store.write([{ kind: 'merchant', merchant: { ...merchant, id: `mrc_${count}`, nif: `timer ${count}` } }]);
    }

    clearInterval(timer);
    await store.close();
    // In the main thread the count is next to none; here it is one for every few milliseconds of the 300 writes.
    expect(ticks).toBeGreaterThan(5);
  });
});
