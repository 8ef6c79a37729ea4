import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConsoleApp } from '../../../../src/console/console-app.ts';
import { aBatch, ledgerHolding } from '../console-ledger.ts';

const ANNAS = aBatch({ batchId: 'anna-batch-may-1', application: 'anna', file: 'of-anna.csv' });
const BERTAS = aBatch({ batchId: 'berta-batch-may-1', application: 'berta', file: 'of-berta.csv' });

describe('the first page over several applications', () => {
  let reportsDir: string;
  beforeEach(async () => {
    reportsDir = await mkdtemp(join(tmpdir(), 'lote-overview-'));
  });
  afterEach(() => rm(reportsDir, { recursive: true }));

  async function ask(path: string, applications?: readonly string[]): Promise<Response> {
    const app = createConsoleApp({
      ledger: ledgerHolding([ANNAS, BERTAS].map((batch) => ({ batch, invoices: [] }))),
      reportsDir,
      links: { temporalUi: null },
      version: '0.1.0',
      timeZone: 'UTC',
      ...(applications === undefined ? {} : { applications }),
    });
    return app.request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1', 'accept-language': 'en' } });
  }

  async function pageOf(path: string, applications?: readonly string[]): Promise<string> {
    return (await ask(path, applications)).text();
  }

  it('names the application of each batch, and shows one alone when it is chosen', async () => {
    const all = await pageOf('/', ['anna', 'berta']);
    const one = await pageOf('/?application=berta', ['anna', 'berta']);

    expect(all).toContain('<td>anna</td>');
    expect(all).toContain('<td>berta</td>');
    expect(one).toContain('of-berta.csv');
    expect(one).not.toContain('of-anna.csv');
    expect(one).toContain('<option value="berta" selected>');
  });

  it('says nothing of applications where there is one', async () => {
    const page = await pageOf('/?application=berta');

    expect(page).not.toContain('Application');
    expect(page).toContain('of-anna.csv');
  });

  it('finds the report of a batch in the folder of its application', async () => {
    const folder = join(reportsDir, 'anna', ANNAS.batchId);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'report.csv'), 'ours');

    const path = `/batches/${ANNAS.batchId}/files/report.csv`;

    expect(await pageOf(path, ['anna', 'berta'])).toBe('ours');
    expect((await ask(path)).status).toBe(404);
  });
});
