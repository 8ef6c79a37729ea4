import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { fileStore } from '../../../../src/sandbox/file-store.ts';
import type { SandboxStore } from '../../../../src/sandbox/store.ts';
import { invoiceFor, merchantIn, postInvoice } from '../../../unit/sandbox/support/client.ts';
import { sandbox } from '../../../unit/sandbox/support/fixtures.ts';
import { compiledProcess } from '../../../support/compiled-process.ts';

const PROCESS = await compiledProcess(new URL('../support/sandbox-process.ts', import.meta.url));

async function startProcess(directory: string): Promise<{ readonly child: ChildProcess; readonly url: string }> {
  const child = spawn(process.execPath, [PROCESS, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  if (child.stdout === null) throw new Error('stdout is a pipe');
  const { stdout } = child;
  const url = await new Promise<string>((resolve) => stdout.once('data', (line) => resolve(String(line).trim())));
  return { child, url };
}

/** Opens a store, counts the invoices that were written into it, and closes it. */
async function read(store: SandboxStore): Promise<number> {
  let invoices = 0;
  for await (const { kind } of store.open()) if (kind === 'invoice') invoices += 1;
  await store.close();
  return invoices;
}

describe('a sandbox on a file store', () => {
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
    const { child } = await startProcess(directory);
    await expect(read(fileStore({ directory }))).rejects.toThrow('another one does');

    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;

    expect(await read(fileStore({ directory }))).toBeGreaterThan(0);
  });

  it('cuts off a group that its process did not finish, and keeps those before it', async () => {
    const journal = join(directory, 'books.jsonl');
    const whole = await readFile(journal, 'utf8');
    await writeFile(journal, `${whole}[{"kind":"merchant","merch`);

    expect(await read(fileStore({ directory }))).toBeGreaterThanOrEqual(200);
    expect(await readFile(journal, 'utf8')).toBe(whole);
  });

  it('stops at a damaged group in the middle, and says where', async () => {
    const journal = join(directory, 'books.jsonl');
    const whole = await readFile(journal, 'utf8');
    await writeFile(journal, `[{"kind"\n${whole}`);
    await expect(read(fileStore({ directory }))).rejects.toThrow('the one at byte 0 is not');

    await writeFile(journal, whole);
    expect(await read(fileStore({ directory }))).toBeGreaterThan(0);
  });
});
