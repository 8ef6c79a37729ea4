import { describe, expect, it } from 'vitest';
import type { Engine, EngineOutcome } from '../../../src/sandbox/engine.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { expectAgreement, readReportOf, withStack, type TestStack, stop } from '../../support/lote/stack.ts';
import { FAILING_TAX_CODE, testInvoices } from '../../support/files/batch-file.ts';
import { until } from '../../support/until.ts';

/** Invoices that go before the others of a large batch. */
const FIRST = 20;
/** The smallest batch that counts as large has ten times as many. */
const LARGE = 210;
/** What is held of it when its first invoices stop it. */
const REST = LARGE - FIRST;
/** Final words, issued and failed, from which on a share of failures counts. */
const FEWEST_FINAL = 50;
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

/** It fails everything, and nothing before so many are sent: failures that are known earlier keep the last of them from being sent. */
function failingAfter(count: number): Engine {
  let sent = 0;
  return {
    async process() {
      sent += 1;
      await until(() => sent >= count);
      return { delayMs: 20, outcome: FAILED };
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

describe('the first invoices of a large batch of several merchants', { concurrent: true }, () => {
  it.each([403, 422])(
    'do not stop the others where the service answers %i to the merchant that comes first',
    async (status) => {
      const env = { LOTE_OUTAGE_PATIENCE: '60s', LOTE_FAILURE_BUDGET: '90%' };
      const bad = testInvoices(60, { nif: '502757191' });
      await withStack({ env }, async (stack) => {
        stack.front.script = ({ method, path, body }) => {
          const number = Number(/Cliente Secreto F-(\d+)"/u.exec(body)?.[1]);
          const isBad = method === 'POST' && path === '/v1/invoices' && number <= bad.length;
          return isBad ? { status, json: { error: { code: 'merchant_closed', message: 'Closed' } } } : 'pass';
        };

        const result = await stack.run('sorted.csv', [...bad, ...testInvoices(LARGE - bad.length, {}, bad.length + 1)]);

        expect(result.counts).toMatchObject({ issued: LARGE - bad.length });
        expect((result.counts.rejected ?? 0) + (result.counts.held ?? 0)).toBe(bad.length);
        await expectAgreement(stack, result.batchId);
      });
    },
  );
});

describe('the first invoices of a large batch, accepted by the service', { concurrent: true }, () => {
  it.each(['on', 'none'] as const)(
    'stop the rest when each fails later, and only once (webhooks: %s)',
    async (webhooks) => {
      let isMended = false;
      const [failing, mended] = [failingAfter(FIRST), engineBy(() => ISSUED)];
      const sandbox = { engine: { process: (one) => (isMended ? mended : failing).process(one) } satisfies Engine };
      const env = { LOTE_PAGE_SIZE: '100', LOTE_FAILURE_BUDGET: '90%' };
      await withStack({ env, webhooks, sandbox }, async (stack) => {
        const result = await stack.run('all-fail.csv', testInvoices(LARGE));

        expect(stack.posts()).toHaveLength(FIRST);
        expect(await reasonsOf(stack, result.batchId)).toEqual({
          'failed wrong-series': FIRST,
          'held first-invoices-failed': REST,
        });
        expect(result.state).toBe('finished');
        const report = await readReportOf(result);
        expect(report.counts).toMatchObject({ failed: FIRST, held: REST });
        expect(report.invoices.find(({ state }) => state === 'held')?.reason?.message).toBe(
          'The service refused 0 of the first 20 invoices and failed 20 of those it accepted; none was issued. The rest was not sent: look at these invoices, then drop the file again, or use lote retry BATCH --state held.',
        );

        isMended = true;
        await (await stack.start({ file: 'all-fail.csv' })).handle.result();

        expect(await reasonsOf(stack, result.batchId)).toEqual({ 'failed wrong-series': FIRST, issued: REST });
        await expectAgreement(stack, result.batchId);
      });
    },
  );

  it.each([
    ['cuts each connection', 'cut'],
    ['answers 503', { status: 503 }],
  ] as const)('go again before the others when the service first %s', async (_what, action) => {
    const env = { LOTE_PAGE_SIZE: '500' };
    await withStack({ env, sandbox: { engine: failingAfter(FIRST) } }, async (stack) => {
      const isAway = (): boolean => Date.now() < (stack.posts()[0]?.at ?? 0) + 3_000;
      stack.front.script = ({ path }) => (path === '/v1/invoices' && isAway() ? action : 'pass');
      const result = await stack.run('away-at-first.csv', testInvoices(LARGE));

      expect(await reasonsOf(stack, result.batchId)).toEqual({
        'failed wrong-series': FIRST,
        'held first-invoices-failed': REST,
      });
      await expectAgreement(stack, result.batchId);
    });
  });

  it('are not waited for when an operator cancels the rest', async () => {
    const { engine, open } = gatedEngine();
    await withStack({ env: { LOTE_PAGE_SIZE: '500' }, sandbox: { engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('cancelled.csv', testInvoices(LARGE));
      await until(async () => (await stack.progress(handle)).waitingFor === 'first-invoices');
      const cancelledAt = Date.now();
      await stop(handle, 'cancelRemaining', { reason: 'wrong' });
      await until(async () => (await stack.progress(handle)).waitingFor === null);
      expect(Date.now() - cancelledAt, 'the wait itself lasts 30 s').toBeLessThan(15_000);
      open();

      expect((await handle.result()).state).toBe('cancelled');
      expect(await reasonsOf(stack, batchId)).toEqual({ issued: FIRST, 'held batch-cancelled': REST });
      expect(stack.posts()).toHaveLength(FIRST);
    });
  });

  it('are judged after a pause by what they have come to meanwhile', async () => {
    const { engine, open } = gatedEngine();
    await withStack({ env: { LOTE_PAGE_SIZE: '500' }, sandbox: { engine } }, async (stack) => {
      const { batchId, handle } = await stack.begin('paused.csv', testInvoices(LARGE, { taxCode: FAILING_TAX_CODE }));
      await until(async () => (await stack.progress(handle)).waitingFor === 'first-invoices');
      await stop(handle);
      open();
      await until(async () => (await stack.progress(handle)).waitingFor === null);
      // On a busy machine a few of the sample may be left to their page.
      const sent = stack.posts().length;
      expect(sent).toBeGreaterThan(FIRST / 2);
      expect(sent).toBeLessThanOrEqual(FIRST);
      await handle.executeUpdate<string, []>('resume');

      await handle.result();
      expect(await reasonsOf(stack, batchId)).toEqual({
        'failed tax-code-unknown': sent,
        'held first-invoices-failed': LARGE - sent,
      });
      expect(stack.posts()).toHaveLength(sent);
    });
  });
});

describe('failures of a batch that is still being sent', () => {
  it('hold the rest when they are more than the failure budget allows', async () => {
    const profile = { limits: { maxConcurrency: 4 } };
    const sandbox = { latencyMs: 40, engine: engineBy((number) => (number <= FIRST ? ISSUED : FAILED)) };
    await withStack({ profile, sandbox, env: { LOTE_PAGE_SIZE: '500' } }, async (stack) => {
      const result = await stack.run('later-fail.csv', testInvoices(1_500));

      const { failed = 0, held = 0, issued = 0 } = result.counts;
      expect(issued).toBe(FIRST);
      expect(failed + held).toBe(1_500 - FIRST);
      expect(issued + failed).toBeGreaterThanOrEqual(FEWEST_FINAL);
      expect(held).toBeGreaterThan(0);
      expect(stack.posts()).toHaveLength(FIRST + failed);
      expect(Object.keys(await reasonsOf(stack, result.batchId)).toSorted()).toEqual([
        'failed wrong-series',
        'held failure-budget-spent',
        'issued',
      ]);
      await expectAgreement(stack, result.batchId);
    });
  });
});
