import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  ensureReconciliationSchedule,
  reconciliationId,
  startReconciliation,
} from '../../src/app/schedules/reconciliation-schedule.ts';
import type { BatchResult, ReconciliationResult } from '../../src/domain/messages/messages.ts';
import { gatedEngine } from '../support/servers/service-front.ts';
import { expectAgreement, expectFrozenBytes, withStack, type TestStack } from '../support/lote/stack.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { until } from '../support/until.ts';

async function reconcile(stack: TestStack): Promise<ReconciliationResult> {
  return (await startReconciliation(stack.client, stack.config, stack.ledger.id)).result();
}

async function reportOf(result: BatchResult) {
  return JSON.parse(await readFile(result.reports.json, 'utf8')) as {
    readonly batch: { readonly revision: number };
    readonly counts: Readonly<Record<string, number>>;
    readonly changes: unknown;
  };
}

/** The answers of every POST are lost, whether or not the invoice was created. */
const LOSE = { before: 'cut', after: 'pass-and-cut' } as const;

describe('reconciliation', { concurrent: true }, () => {
  it('finds what became of lost answers, with the same keys and bytes, and rewrites the report', async () => {
    await withStack({ env: { LOTE_SEND_TIMEOUT: '1s', LOTE_OUTAGE_PATIENCE: '1s' } }, async (stack) => {
      stack.front.script = ({ method, path, body }) => {
        if (method !== 'POST' || path !== '/v1/invoices') return 'pass';
        if (body.includes('Secreto F-1"')) return LOSE.before;
        if (body.includes('Secreto F-2"')) return LOSE.after;
        return 'pass';
      };
      const result = await stack.run('lost.csv', testInvoices(5));
      stack.front.script = () => 'pass';

      const reconciled = await reconcile(stack);

      expect(result.counts).toMatchObject({ issued: 3, unknown: 2 });
      expect(reconciled).toMatchObject({ repeated: 2, found: 2, serviceAway: false, reports: [result.batchId] });
      expect(expectFrozenBytes(stack)).toBe(5);
      // The engine may not have spoken when the documents were asked for: the next look settles them.
      await reconcile(stack);
      await expectAgreement(stack, result.batchId);
      expect(await reportOf(result)).toMatchObject({ counts: { unknown: 0 } });
    });
  });

  it('is not needed for what the same file, run again, can find: same keys, same bytes, and GET for the silent', async () => {
    const env = { LOTE_SEND_TIMEOUT: '1s', LOTE_OUTAGE_PATIENCE: '1s', LOTE_SETTLE_TIMEOUT: '12s' };
    await withStack({ env, webhooks: 'none' }, async (stack) => {
      stack.front.script = ({ method, path, body }) => {
        if (method === 'GET' && path.startsWith('/v1/invoices/')) return { status: 404 };
        if (body.includes('Secreto F-1"')) return LOSE.before;
        return body.includes('Secreto F-2"') ? LOSE.after : 'pass';
      };
      const first = await stack.run('again.csv', testInvoices(5));
      stack.front.script = () => 'pass';

      const second = await stack.run('again.csv', testInvoices(5));

      expect(first.counts).toMatchObject({ unsettled: 3, unknown: 2 });
      expect(second.counts).toMatchObject({ issued: 5, unknown: 0, unsettled: 0 });
      expectFrozenBytes(stack);
      await expectAgreement(stack, second.batchId);
    });
  });

  it('leaves nothing unknown of an outage in which every POST got the same 500 and GET worked', async () => {
    // As after half an hour with the default send time: half of it makes the same answer an error that is kept under its key.
    const env = { LOTE_SEND_TIMEOUT: '4s', LOTE_OUTAGE_PATIENCE: '4s' };
    await withStack({ env }, async (stack) => {
      stack.front.script = ({ method, path }) =>
        method === 'POST' && path === '/v1/invoices' ? { status: 500 } : 'pass';
      const result = await stack.run('outage.csv', testInvoices(6));
      expect((result.counts.unknown ?? 0) + (result.counts.held ?? 0)).toBe(6);
      expect(result.counts.unknown).toBeGreaterThan(0);
      stack.front.script = () => 'pass';

      // What the schedule does, without anybody's word; the ages are seconds here.
      await until(() =>
        stack.reconcile({ all: false }).then(async () => (await unknownOf(stack, result.batchId)) === 0),
      );
      await expectAgreement(stack, result.batchId);
    });
  });

  it('rewrites the report when a webhook settles an invoice after its batch was closed', async () => {
    const gate = gatedEngine();
    await withStack({ env: { LOTE_SETTLE_TIMEOUT: '1s' }, sandbox: { engine: gate.engine } }, async (stack) => {
      const result = await stack.run('late.csv', testInvoices(2));
      gate.open();
      await untilSettled(stack, result.batchId);

      const reconciled = await reconcile(stack);

      expect(result.counts).toMatchObject({ unsettled: 2 });
      expect(reconciled.reports).toEqual([result.batchId]);
      expect(await reportOf(result)).toMatchObject({
        batch: { revision: 2 },
        counts: { issued: 2, unsettled: 0 },
        changes: { sinceRevision: 1, byState: [{ from: 'unsettled', to: 'issued', invoices: 2 }] },
      });
      expect((await reconcile(stack)).reports, 'nothing has changed since').toEqual([]);
    });
  });

  it('is scheduled once, and an existing schedule is left as it is', async () => {
    await withStack({}, async (stack) => {
      const warnings: string[] = [];
      const log = { warn: (message: string) => void warnings.push(message) };
      const schedule = stack.client.schedule.getHandle(reconciliationId(stack.config));
      try {
        await ensureReconciliationSchedule(stack.client, stack.config, log);
        await schedule.pause('an operator says so');
        await ensureReconciliationSchedule(stack.client, stack.config, log);

        const described = await schedule.describe();
        expect(described.state.paused).toBe(true);
        expect(described.policies.overlap).toBe('SKIP');
        expect(warnings).toEqual([]);
      } finally {
        await schedule.delete();
      }
    });
  });
});

async function unknownOf(stack: TestStack, batchId: string): Promise<number> {
  return (await stack.lines(batchId)).filter(({ state }) => state === 'unknown').length;
}

async function untilSettled(stack: TestStack, batchId: string): Promise<void> {
  await until(async () => (await stack.lines(batchId)).every(({ state }) => state === 'issued'));
}
