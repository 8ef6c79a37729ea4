import { describe, expect, it } from 'vitest';
import type { Engine, EngineOutcome } from '../../src/sandbox/engine.ts';
import { expectAgreement } from '../support/agreement.ts';
import { testInvoices } from '../support/batch-file.ts';
import { readReportOf, withStack, type TestStack } from '../support/stack.ts';

const TIMEOUT_MS = 240_000;
/** Invoices that go before the others of a large batch. */
const FIRST = 20;
const ISSUED: EngineOutcome = { status: 'issued' };
const FAILED: EngineOutcome = { status: 'failed', code: 'wrong_series', message: 'The series is closed' };

/** An engine that accepts everything and decides by the number of the reference. */
function engineBy(outcome: (number: number) => EngineOutcome, delayMs = 20): Engine {
  return {
    process({ body }) {
      return { delayMs, outcome: outcome(Number(/F-(\d+)$/.exec(body.customer.name)?.[1])) };
    },
  };
}

/** State and reason of each invoice of the batch, counted. */
async function reasonsOf(stack: TestStack, batchId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state, reason } of await stack.lines(batchId)) {
    const kind = reason === null ? state : `${state} ${reason.code}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

describe(
  'the first invoices of a large batch, accepted by the service',
  { concurrent: true, timeout: TIMEOUT_MS },
  () => {
    it.each(['on', 'none'] as const)('stop the rest when each of them fails later (webhooks: %s)', async (webhooks) => {
      const env = { LOTE_PAGE_SIZE: '100', LOTE_FAILURE_BUDGET: '90%', LOTE_SETTLE_TIMEOUT: '40s' };
      await withStack({ env, webhooks, sandbox: { engine: engineBy(() => FAILED) } }, async (stack) => {
        const result = await stack.run('all-fail.csv', testInvoices(300));

        expect(stack.posts()).toHaveLength(FIRST);
        expect(await reasonsOf(stack, result.batchId)).toEqual({
          'failed wrong-series': FIRST,
          'held first-invoices-failed': 280,
        });
        expect(result.state).toBe('finished');
        const report = await readReportOf(result);
        expect(report.counts).toMatchObject({ failed: FIRST, held: 280 });
        expect(report.invoices.find(({ state }) => state === 'held')?.reason?.message).toBe(
          'The service accepted the first 20 invoices and failed 20 of them; none was issued. The rest was not sent: look at the failures, then drop the file again, or use lote retry BATCH --state held.',
        );
        await expectAgreement(stack, result.batchId);
      });
    });
  },
);

describe('failures of a batch that is still being sent', { timeout: TIMEOUT_MS }, () => {
  it('hold the rest when they are more than the failure budget allows', async () => {
    const profile = { limits: { maxConcurrency: 4 } };
    const sandbox = { latencyMs: 40, engine: engineBy((number) => (number <= 60 ? ISSUED : FAILED)) };
    await withStack({ profile, sandbox, env: { LOTE_PAGE_SIZE: '500' } }, async (stack) => {
      const result = await stack.run('later-fail.csv', testInvoices(1_500));

      const { failed = 0, held = 0, issued = 0 } = result.counts;
      expect(issued).toBe(60);
      expect(failed + held).toBe(1_440);
      expect(failed).toBeGreaterThanOrEqual(50);
      expect(held).toBeGreaterThan(0);
      expect(stack.posts()).toHaveLength(60 + failed);
      expect(Object.keys(await reasonsOf(stack, result.batchId)).toSorted()).toEqual([
        'failed wrong-series',
        'held failure-budget-spent',
        'issued',
      ]);
      await expectAgreement(stack, result.batchId);
    });
  });
});
