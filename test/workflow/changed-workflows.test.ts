import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/runtime/version.ts';
import { findStuckRun } from '../../src/wiring/temporal/stuck/stuck-run.ts';
import type { BatchResult } from '../../src/contract/messages.ts';
import { testInvoices } from '../support/files/batch-file.ts';
import { bundleWithOneStepMore } from '../support/changed-workflow/changed-bundle.ts';
import { withStack, type TestStack } from '../support/lote/stack.ts';
import { until } from '../support/until.ts';

const INVOICES = 40;

const patchedBundle = await bundleWithOneStepMore('patched');
const unpatchedBundle = await bundleWithOneStepMore('unpatched');

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
    await stack.drop('night.csv', testInvoices(INVOICES));
    const { batchId, handle } = await stack.start({ file: 'night.csv' });
    await until(() => stack.posts().length > INVOICES / 4);
    await test({ stack, batchId, result: () => handle.result(), release: () => release() });
  });
}

/** By the service's own books. */
async function expectEachIssuedOnce({ stack, result }: MidBatch): Promise<void> {
  expect((await result()).counts).toMatchObject({ invoices: INVOICES, issued: INVOICES });
  expect(stack.sandbox.books().duplicates).toEqual([]);
  expect(stack.sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
}

describe('a changed workflow that is deployed under a running batch', { timeout: 180_000 }, () => {
  it('goes on with it where the change is patched: nobody notices, and each invoice is issued once', async () => {
    await inMidBatch(async (batch) => {
      const { stack, batchId, release } = batch;
      const deployed = stack.deploy(patchedBundle);
      release();
      await deployed;

      await expectEachIssuedOnce(batch);
      expect(await findStuckRun(stack.client, batchId)).toBeNull();
    });
  });

  it('is stopped where it is not patched, with the build named that must come back; with that, each is issued once', async () => {
    await inMidBatch(async (batch) => {
      const { stack, batchId, release } = batch;
      const deployed = stack.deploy(unpatchedBundle);
      release();
      await deployed;
      await until(async () => (await findStuckRun(stack.client, batchId)) !== null);

      const stuck = await findStuckRun(stack.client, batchId);
      expect(stuck).toMatchObject({ workflowId: batchId, build: expect.stringContaining(`${VERSION}+`) as string });
      expect((await stack.ledger.findBatch(batchId))?.state).toBe('running');
      await stack.deploy();

      await expectEachIssuedOnce(batch);
    });
  });
});
