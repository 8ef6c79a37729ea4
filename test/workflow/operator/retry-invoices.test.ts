import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/sandbox/engine.ts';
import type { BatchResult } from '../../../src/domain/messages/messages.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack, retry } from '../../support/lote/stack.ts';
import { type FrontRequest, gated } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

/** Fails every invoice of a customer until it has failed that often, and then issues it: an engine that recovers. */
function recoveringEngine(failures: number, code = 'engine_busy'): Engine {
  const failed = new Map<string, number>();
  return {
    process({ id, body }) {
      const customer = body.customer.name;
      const before = failed.get(customer) ?? 0;
      if (!customer.startsWith('Ocupado') || before >= failures)
        return { delayMs: 5, outcome: { status: 'issued' as const } };
      failed.set(customer, before + 1);
      return { delayMs: 5, outcome: { status: 'failed' as const, code, message: `Not now (${id})` } };
    },
  };
}

interface History {
  readonly batch: { readonly revision: number };
  readonly changes: { readonly sinceRevision: number; readonly byState: readonly unknown[] } | null;
  readonly audit: readonly unknown[];
}

async function historyOf(result: BatchResult): Promise<History> {
  return JSON.parse(await readFile(result.reports.json, 'utf8')) as History;
}

/** Issued twice is what must never be; a failed document and its issued successor are no duplicate. */
function issuedCustomers(stack: TestStack): number {
  return stack.sandbox.books().invoices.filter(({ status }) => status === 'issued').length;
}

describe('retryInvoices', { concurrent: true }, () => {
  it('sends the failed invoices of a finished batch again, and says in its report what changed and why', async () => {
    await withStack({ sandbox: { engine: recoveringEngine(1) } }, async (stack) => {
      const first = await stack.run('retry.csv', [
        ...testInvoices(6),
        { ref: 'B-7', customer: 'Ocupado 7' },
        { ref: 'B-8', customer: 'Ocupado 8' },
      ]);

      const second = await retry(stack, {
        batch: first.batchId,
        states: ['failed'],
        reason: 'the engine is back',
        who: 'ana',
      });

      expect(first.counts).toMatchObject({ issued: 6, failed: 2 });
      expect(second).toMatchObject({ state: 'finished', revision: 2, retried: { moved: 2, refused: {} } });
      expect(second.counts).toMatchObject({ issued: 8, failed: 0 });
      expect(second.reports.json).toBe(first.reports.json);
      expect(issuedCustomers(stack)).toBe(8);
      expect(await historyOf(second)).toMatchObject({
        batch: { revision: 2 },
        changes: {
          sinceRevision: 1,
          byState: [{ from: 'failed', to: 'issued', invoices: 2, examples: ['B-7', 'B-8'] }],
        },
        audit: [{ who: 'ana', why: 'the engine is back', invoices: 2, acceptedDuplicateRisk: false }],
      });
      expect(await readFile(second.reports.html, 'utf8')).toContain('the engine is back');
    });
  });

  it('is refused while the file is read: it is not yet known whether this run will send anything', async () => {
    await withStack({ sandbox: { engine: recoveringEngine(1) } }, async (stack) => {
      const { batchId } = await stack.run('known.csv', [{ ref: 'K-1', customer: 'Ocupado 1' }]);
      const { taskQueue } = stack.config;
      const again = new WithStartWorkflowOperation('invoiceBatch', {
        ...{ workflowId: batchId, taskQueue, args: [{ file: 'known.csv' }], workflowIdConflictPolicy: 'FAIL' },
      });

      const update = stack.client.workflow.executeUpdateWithStart('retryInvoices', {
        startWorkflowOperation: again,
        args: [{ states: ['failed'], reason: 'the engine is back' }],
      });

      await expect(update).rejects.toMatchObject({ cause: { type: 'input-invalid' } });
      await (await again.workflowHandle()).result();
    });
  });

  it('is taken up by a batch that runs, when its pages have ended', async () => {
    const gate = gated(recoveringEngine(1));
    await withStack({ sandbox: { engine: gate.engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('running.csv', [{ ref: 'R-1', customer: 'Ocupado 1' }]);
      await until(async () => (await stack.progress(handle)).phase !== 'reading');

      const answer = await handle.executeUpdate<string, [object]>('retryInvoices', {
        args: [{ states: ['failed'], reason: 'in advance' }],
        updateId: randomUUID(),
      });
      gate.open();
      const result = await handle.result();

      expect(answer).toContain('Noted');
      expect(result.counts).toMatchObject({ issued: 1 });
      expect(await stack.ledger.auditOf(batchId)).toMatchObject([{ why: 'in advance', invoices: 1 }]);
    });
  });

  it('goes out in as few pages at once as in the first round', async () => {
    const gate = gated(recoveringEngine(0));
    const env = { LOTE_PAGE_SIZE: '1', LOTE_OUTAGE_PATIENCE: '2s' };
    await withStack({ env, sandbox: { engine: gate.engine } }, async (stack) => {
      const away = { status: 429, headers: { 'retry-after': '5' }, json: { error: { code: 'away', message: 'x' } } };
      const isLater = ({ method, path, body }: FrontRequest) =>
        method === 'POST' && path === '/v1/invoices' && body.includes('Fora');
      stack.front.script = (request) => (isLater(request) ? away : 'pass');
      const later = Array.from({ length: 11 }, (_, at) => ({ ref: `W-${at + 2}`, customer: `Fora ${at + 2}` }));
      const { batchId, handle } = await stack.begin('as-few-pages.csv', [...testInvoices(1), ...later]);
      await until(async () => (await stack.lines(batchId)).filter(({ state }) => state === 'held').length === 11);

      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => (release = resolve));
      stack.front.script = async (request) => {
        if (isLater(request)) await released;
        return 'pass' as const;
      };
      await handle.executeUpdate<string, [object]>('retryInvoices', {
        args: [{ states: ['held'], reason: 'the service is back' }],
        updateId: randomUUID(),
      });
      gate.open();
      const running = async () => (await handle.describe()).raw.pendingChildren?.length ?? 0;
      await until(async () => (await running()) >= 4);
      await sleep(1_000);

      expect(await running()).toBe(4);
      release();
      expect((await handle.result()).counts).toMatchObject({ issued: 12 });
    });
  });

  it('sends failed invoices again by itself where the profile names their reason, at most maxGenerations', async () => {
    const profile = { retry: { failedReasonCodes: ['engine-busy'], maxGenerations: 3 } };
    const recovers = withStack({ profile, sandbox: { engine: recoveringEngine(2) } }, async (stack) => {
      const result = await stack.run('automatic.csv', [...testInvoices(3), { ref: 'A-4', customer: 'Ocupado 4' }]);

      expect(result.counts).toMatchObject({ issued: 4 });
      expect(result.revision, 'one report, after the last round').toBe(1);
      expect(await stack.line(result.batchId, 'A-4')).toMatchObject({ state: 'issued', generation: 3 });
    });
    const isHopeless = withStack({ profile, sandbox: { engine: recoveringEngine(9) } }, async (stack) => {
      const result = await stack.run('hopeless.csv', [{ ref: 'A-5', customer: 'Ocupado 5' }]);

      expect(result.counts).toMatchObject({ failed: 1 });
      expect(stack.sandbox.books().totals.invoices, 'generations').toBe(3);
    });
    const engine = recoveringEngine(1, 'tax_code_unknown');
    const isOther = withStack({ profile, sandbox: { engine } }, async (stack) => {
      const result = await stack.run('other.csv', [{ ref: 'O-1', customer: 'Ocupado 1' }]);

      expect(result.counts, 'another reason').toMatchObject({ failed: 1 });
      expect(stack.sandbox.books().totals.invoices).toBe(1);
    });
    await Promise.all([recovers, isHopeless, isOther]);
  });
});
