import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { pageWorkflowId } from '../../workflows/page/page-workflow-id.ts';
import {
  customerOf,
  customerTaxIdOf,
  FAILING_TAX_CODE,
  MERCHANT_NIF,
  ownName,
  testInvoices,
} from '../support/batch-file.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

/** Histories of the code as it was when they were recorded; a change that cannot replay them must be a conscious one. Recorded anew with LOTE_RECORD_HISTORIES=1. */
const RECORDED = fileURLToPath(new URL('histories/', import.meta.url));
const RECORDING = process.env['LOTE_RECORD_HISTORIES'] === '1';

type History = Awaited<ReturnType<ReturnType<TestStack['client']['workflow']['getHandle']>['fetchHistory']>>;

async function historyOf(stack: TestStack, workflowId: string): Promise<History> {
  return stack.client.workflow.getHandle(workflowId).fetchHistory();
}

/** Every text of a history, payloads decoded. */
function textsOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([name, member]) => `${name} ${textsOf(member)}`)
    .join('\n');
}

async function replay(history: unknown, workflowId: string): Promise<void> {
  await Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundle') } }, history, workflowId);
}

async function record(name: string, history: History): Promise<void> {
  if (!RECORDING) return;
  await mkdir(RECORDED, { recursive: true });
  await writeFile(`${RECORDED}${name}.json`, `${historyToJSON(history)}\n`);
}

describe('the histories of a night', { concurrent: true, timeout: 120_000 }, () => {
  it('hold no name, no tax number, no reference and no key, and can be replayed', async () => {
    const invoices = [
      ...testInvoices(14, { nif: MERCHANT_NIF }),
      { ref: 'F-15', taxCode: FAILING_TAX_CODE },
      { ref: 'F-16', quantity: 'muitos' },
      { ref: 'F-17', nif: '502757191' },
      { ref: 'F-18', nif: '511882408', legalName: '' },
      { ref: 'F-19' },
    ];
    const env = { LOTE_PAGE_SIZE: '10' };
    await withStack({ env, profile: { limits: { maxConcurrency: 2 } }, sandbox: { latencyMs: 30 } }, async (stack) => {
      stack.front.script = (request) => {
        // A service that quotes personal data in its refusals.
        if (request.path === '/v1/merchants' && request.body.includes('502757191'))
          return { status: 422, json: { error: { code: 'refused', message: 'Comerciante 502757191 is not known' } } };
        if (request.body.includes('Cliente Secreto F-19'))
          return {
            status: 422,
            json: { error: { code: 'refused', message: 'Cliente Secreto F-19 (200000019) has moved' } },
          };
        return 'pass';
      };
      await stack.drop('night.csv', invoices);
      const { batchId, handle } = await stack.start({ file: 'night.csv' });
      await until(() => stack.posts().length > 2);
      await handle.executeUpdate<string, [{ reason: string }]>('pause', { args: [{ reason: 'a look' }] });
      await handle.executeUpdate<string, []>('resume');
      const attached = await stack.startAs(ownName('attached'), { file: 'night.csv' });
      const result = await handle.result();
      await attached.result();
      expect(result.counts).toMatchObject({ issued: 14, failed: 1, invalid: 1, held: 2, rejected: 1 });

      const ids = [batchId, pageWorkflowId(batchId, 1), pageWorkflowId(batchId, 2), attached.workflowId];
      const histories = await Promise.all(ids.map((id) => historyOf(stack, id)));
      const text = textsOf(histories);

      expect(text).toContain('"file":"night.csv"');
      const keys = (await stack.lines(batchId)).flatMap((line) => [line.idempotencyKey, line.serviceId]);
      const secrets = invoices.flatMap((invoice) => [
        invoice.ref,
        customerOf(invoice),
        customerTaxIdOf(invoice),
        invoice.nif ?? MERCHANT_NIF,
        `Comerciante ${invoice.nif ?? MERCHANT_NIF}`,
        `Artigo ${invoice.ref}`,
      ]);
      const found = [...secrets, ...keys].filter((secret) => secret !== null && text.includes(secret));
      expect(found, 'what history must not hold').toEqual([]);

      const names = ['batch', 'page', 'last-page', 'attached'];
      for (const [at, history] of histories.entries()) {
        await replay(history, ids[at] ?? '');
        await record(names[at] ?? '', history);
      }
    });
  });

  it('of an outage and a cancelled batch can be replayed', async () => {
    const env = { LOTE_PAGE_SIZE: '5', LOTE_OUTAGE_PATIENCE: '60s' };
    await withStack({ env }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        method === 'POST' && path === '/v1/invoices' ? { status: 401 } : 'pass';
      await stack.drop('outage.csv', testInvoices(10));
      const { batchId, handle } = await stack.start({ file: 'outage.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await handle.executeUpdate<string, [{ reason: string }]>('cancelRemaining', { args: [{ reason: 'enough' }] });
      expect((await handle.result()).counts).toMatchObject({ held: 10 });

      for (const [name, id] of [
        ['cancelled-batch', batchId] as const,
        ['cancelled-page', pageWorkflowId(batchId, 1)] as const,
      ]) {
        const history = await historyOf(stack, id);
        await replay(history, id);
        await record(name, history);
      }
    });
  });

  it.skipIf(RECORDING)('recorded earlier can be replayed by the code of today', async () => {
    const files = (await readdir(RECORDED)).filter((name) => name.endsWith('.json'));

    expect(files.length).toBeGreaterThanOrEqual(6);
    for (const file of files) await replay(JSON.parse(await readFile(`${RECORDED}${file}`, 'utf8')), 'recorded');
  });
});
