import { describe, expect, it } from 'vitest';
import { awaitResult } from '../../src/app/temporal/calls.ts';
import type { BatchResult } from '../../src/domain/messages/messages.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { bundleWithOneStepMore } from '../support/changed-workflow/changed-bundle.ts';
import { withStack, type TestStack, stop } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

const INVOICES = 40;

const changedBundle = await bundleWithOneStepMore();

interface MidBatch {
  readonly stack: TestStack;
  readonly batchId: string;
  readonly result: () => Promise<BatchResult>;
  /** Lets the service answer the requests that wait, and all others. */
  readonly release: () => void;
}

/** A batch among its pages; the service answers nothing more until it is released. */
async function inMidBatch(test: (batch: MidBatch) => Promise<void>): Promise<void> {
  await withStack({ env: { LOTE_PAGE_SIZE: '10' }, profile: { limits: { maxConcurrency: 2 } } }, async (stack) => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    stack.front.script = ({ path }) => {
      const waits = path === '/v1/invoices' && stack.posts().length > INVOICES / 4;
      return waits ? released.then(() => 'pass' as const) : 'pass';
    };
    const { batchId, handle } = await stack.begin('night.csv', testInvoices(INVOICES));
    await until(() => stack.posts().length > INVOICES / 4);
    await test({
      stack,
      batchId,
      result: () => awaitResult(handle),
      release: () => release(),
    });
  });
}

/** By the service's own books. */
async function expectEachIssuedOnce({ stack, result }: MidBatch): Promise<void> {
  expect((await result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
  expect(stack.sandbox.books().duplicates).toEqual([]);
  expect(stack.sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
}

describe('a changed workflow that is deployed under a running batch', () => {
  it('keeps what operators asked: paused it stays paused, a retry is not forgotten, and the audit has each once', async () => {
    await inMidBatch(async (batch) => {
      const { stack, batchId, release } = batch;
      const handle = stack.client.workflow.getHandle(batchId);
      await stop(handle, 'pause', { reason: 'look', who: 'ana' });
      await handle.executeUpdate('retryInvoices', { args: [{ states: ['failed'], reason: 'engine', who: 'rui' }] });
      const before = await stack.ledger.findBatch(batchId);
      await stack.deploy(changedBundle);
      release();
      await until(async () => (await stack.progress(handle)).phase !== 'reading');

      expect(await stack.progress(handle)).toMatchObject({ paused: true });
      expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'paused', stopped: before?.stopped });
      expect(stack.sandbox.books().totals.invoices).toBeLessThan(INVOICES);
      await handle.executeUpdate('resume', { args: [{ who: 'ana' }] });
      await expectEachIssuedOnce(batch);
      const audit = (await stack.ledger.auditOf(batchId)).map(({ what, who }) => `${who} ${what}`);
      expect(audit.toSorted()).toEqual(['ana pause', 'ana resume', 'rui retry']);
    });
  });

  it('leaves a batch whose rest was cancelled as it is', async () => {
    await inMidBatch(async (batch) => {
      const { stack, batchId, release, result } = batch;
      await stack.client.workflow.getHandle(batchId).executeUpdate('cancelRemaining', { args: [{ reason: 'wrong' }] });
      await stack.deploy(changedBundle);
      release();

      const { counts, state } = await result();
      expect(state).toBe('cancelled');
      expect(counts).toMatchObject({ invoices: INVOICES });
      expect(counts['held']).toBeGreaterThan(0);
      expect(stack.sandbox.books().duplicates).toEqual([]);
    });
  });
});
