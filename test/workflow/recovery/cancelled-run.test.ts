import { describe, expect, it } from 'vitest';
import { expectAgreement } from '../../support/crash/agreement.ts';
import { gatedEngine } from '../../support/crash/gated-engine.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { createRunDirectory } from '../../../src/wiring/temporal/batch-starter.ts';

describe('a batch that is cancelled in the Temporal UI', { concurrent: true, timeout: 180_000 }, () => {
  it.each([
    ['while its pages are sent', '5', 'sending'],
    ['while it waits for final words', '50', 'waiting'],
  ])('ends, and reconciliation closes it: %s', async (_, pageSize, phase) => {
    const gate = gatedEngine();
    const slow = { profile: { limits: { maxConcurrency: 2 } }, env: { LOTE_PAGE_SIZE: pageSize } };
    await withStack({ ...slow, sandbox: { engine: gate.engine, latencyMs: 150 } }, async (stack) => {
      await stack.drop('cancelled.csv', testInvoices(40));
      const { batchId, handle } = await stack.start({ file: 'cancelled.csv' });
      await until(async () => stack.posts().length > 5 && (await stack.progress(handle)).phase === phase);

      await handle.cancel();

      await until(async () => (await handle.describe()).status.name === 'CANCELLED');
      const { runId } = await handle.describe();
      const run = { workflowId: batchId, runId, temporalId: null };
      expect(await createRunDirectory(stack.client).wasStopped(run)).toBe(true);
      gate.open();
      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId] });
      await expectAgreement(stack, batchId);
      const again = await (await stack.start({ file: 'cancelled.csv' })).handle.result();
      expect(again.counts).toMatchObject({ issued: 40 });
      await expectAgreement(stack, batchId);
    });
  });
});
