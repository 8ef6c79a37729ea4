import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/sandbox/engine.ts';
import type { TestInvoice } from '../../support/files/batch-file.ts';
import type { StackOptions } from '../../support/lote/stack-parts.ts';
import { expectFrozenBytes, withStack, type TestStack, retry } from '../../support/lote/stack.ts';
import type { FrontAction } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';

/** The first document of an invoice of such a customer fails, the next one is issued. */
function failingOnce(): Engine {
  const failed = new Set<string>();
  return {
    process({ body }) {
      const { name } = body.customer;
      if (!name.startsWith('Falha') || failed.has(name)) return { delayMs: 5, outcome: { status: 'issued' } };
      failed.add(name);
      return { delayMs: 5, outcome: { status: 'failed', code: 'engine_busy', message: 'Not now' } };
    },
  };
}

const REFUSED = { status: 422, json: { error: { code: 'tax_code_unknown', message: 'the tax code is not known' } } };
const REFUSED_OTHERWISE = { status: 422, json: { error: { code: 'number_used', message: 'the number is used' } } };
const OTHER_ID = { status: 201, json: { id: 'inv_of_another', status: 'processing' } };

interface Case {
  /** What the service does with the nth POST under the first key of the invoice. */
  readonly does: (nth: number) => FrontAction;
  readonly fails: boolean;
  /** State after the retry, and of a corrected content. */
  readonly retried: string;
  readonly corrected: string;
  /** Keys that created a document or tried to. */
  readonly keys: number;
}

const CASES: Readonly<Record<string, Case>> = {
  'a refusal that hides a document': {
    does: (nth) => (nth === 1 ? { ...REFUSED, afterPassing: true } : 'pass'),
    ...{ fails: false, retried: 'issued', corrected: 'held', keys: 1 },
  },
  'the same refusal': { does: () => REFUSED, fails: false, retried: 'issued', corrected: 'issued', keys: 2 },
  'another refusal': {
    does: (nth) => (nth === 1 ? REFUSED : REFUSED_OTHERWISE),
    ...{ fails: false, retried: 'unknown', corrected: 'unknown', keys: 1 },
  },
  'no answer': {
    does: (nth) => (nth === 1 ? REFUSED : 'cut'),
    ...{ fails: false, retried: 'unknown', corrected: 'unknown', keys: 1 },
  },
  'the same failed document': { does: () => 'pass', fails: true, retried: 'issued', corrected: 'issued', keys: 2 },
  'the id of another document': {
    does: (nth) => (nth === 1 ? 'pass' : OTHER_ID),
    ...{ fails: true, retried: 'unsettled', corrected: 'held', keys: 1 },
  },
};

const OPTIONS: StackOptions = {
  webhooks: 'none',
  // Long enough for a GET on a busy machine; what brings no word waits for all of it.
  env: { LOTE_SEND_TIMEOUT: '10s', LOTE_SETTLE_TIMEOUT: '40s' },
  profile: { retry: { failedReasonCodes: [] } },
};

function scripted(stack: TestStack, does: Case['does']): void {
  let first: string | null = null;
  stack.front.script = ({ method, path, key, nth }) => {
    if (method !== 'POST' || path !== '/v1/invoices') return 'pass';
    first ??= key;
    return key === first ? does(nth) : 'pass';
  };
}

/** One document at most may be issued, and each key went with one body. */
function expectNoSecond(stack: TestStack, keys: number): void {
  expect(expectFrozenBytes(stack)).toBe(keys);
  expect(stack.sandbox.books().invoices.filter(({ status }) => status === 'issued').length).toBeLessThanOrEqual(1);
}

function invoiceOf({ fails }: Case): TestInvoice {
  return { ref: 'K-1', customer: fails ? 'Falha 1' : 'Cliente 1' };
}

describe.each(Object.entries(CASES))('an earlier key that brings %s', { concurrent: true }, (_name, one) => {
  it('is asked before an operator’s retry uses a new one', async () => {
    await withStack({ ...OPTIONS, sandbox: { engine: failingOnce() } }, async (stack) => {
      scripted(stack, one.does);
      const first = await stack.run('first.csv', [invoiceOf(one)]);
      expect(first.counts).toMatchObject(one.fails ? { failed: 1 } : { rejected: 1 });

      const second = await retry(stack, {
        batch: first.batchId,
        states: ['failed', 'rejected'],
        reason: 'once more',
      });

      expect(second.counts).toMatchObject({ [one.retried]: 1 });
      expect(stack.posts()[1]?.key).toBe(stack.posts()[0]?.key);
      expectNoSecond(stack, one.keys);
    });
  });

  it('is asked before a corrected content is sent', async () => {
    await withStack({ ...OPTIONS, sandbox: { engine: failingOnce() } }, async (stack) => {
      scripted(stack, one.does);
      await stack.run('first.csv', [invoiceOf(one)]);

      const second = await stack.run('second.csv', [{ ...invoiceOf(one), quantity: '3' }]);

      expect(second.counts).toMatchObject({ [one.corrected]: 1 });
      expect(stack.posts()[1]).toMatchObject({ key: stack.posts()[0]?.key, body: stack.posts()[0]?.body });
      expectNoSecond(stack, one.keys);
    });
  });
});

describe('an earlier key', { concurrent: true }, () => {
  it('is asked again by a reconciliation after no answer came, and its document is the invoice', async () => {
    await withStack(OPTIONS, async (stack) => {
      let isBack = false;
      scripted(stack, (nth) => (nth === 1 ? { ...REFUSED, afterPassing: true } : isBack ? 'pass' : 'cut'));
      const first = await stack.run('first.csv', [{ ref: 'K-1' }]);
      const second = await retry(stack, { batch: first.batchId, states: ['rejected'], reason: 'once more' });
      expect(second.counts).toMatchObject({ unknown: 1 });

      isBack = true;
      await stack.reconcile();
      await stack.reconcile();

      expect(await stack.line(first.batchId, 'K-1')).toMatchObject({ state: 'issued' });
      expectNoSecond(stack, 1);
    });
  });

  it('is not asked after the retention window: the retry and the correction need the accepted risk', async () => {
    const profile = { idempotency: { retentionHours: 0.001 } };
    await withStack({ ...OPTIONS, profile }, async (stack) => {
      scripted(stack, () => REFUSED);
      const first = await stack.run('first.csv', [{ ref: 'K-1' }]);
      const at = Date.now();
      await until(() => Date.now() - at > 3_700);

      const refused = await retry(stack, { batch: first.batchId, states: ['rejected'], reason: 'once more' });
      const conflict = await stack.run('second.csv', [{ ref: 'K-1', quantity: '3' }]);
      expect(refused.retried).toMatchObject({ moved: 0, refused: { 'needs-accept-duplicate-risk': 1 } });
      expect(conflict.counts).toMatchObject({ conflict: 1 });
      expect(stack.posts()).toHaveLength(1);

      const accepted = await retry(stack, {
        batch: first.batchId,
        states: ['rejected'],
        acceptDuplicateRisk: true,
        reason: 'once more',
      });

      expect(accepted.counts).toMatchObject({ issued: 1 });
      expectNoSecond(stack, 2);
      expect(stack.posts()).toHaveLength(2);
    });
  });
});
