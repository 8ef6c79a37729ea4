import { describe, expect, it } from 'vitest';
import { FAILING_TAX_CODE, testInvoices } from '../../support/files/batch-file.ts';
import { gatedEngine } from '../../support/servers/service-front.ts';
import { withStack, type TestStack, stop } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';

async function listed(stack: TestStack, query: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of stack.client.workflow.list({ query })) ids.push(workflowId);
  return ids.sort();
}

/** Visibility lags behind the history by moments. */
function isOnly(ids: readonly string[], id: string): boolean {
  return ids.length === 1 && ids[0] === id;
}

describe('batches in the list of the Temporal UI', { concurrent: true }, () => {
  it('are found by their state, by their problems and with their pages; a refused file is one problem', async () => {
    const engine = gatedEngine();
    await withStack({ sandbox: { engine: engine.engine }, env: { LOTE_PAGE_SIZE: '2' } }, async (stack) => {
      const queue = `TaskQueue STARTS_WITH "${stack.config.taskQueue}@"`;
      const { batchId, handle } = await stack.begin('listed.csv', [
        ...testInvoices(3),
        { ref: 'F-9', quantity: 'muitos' },
      ]);
      await until(async () => isOnly(await listed(stack, `LoteState = "running" AND ${queue}`), batchId));
      await stop(handle);
      await until(async () => isOnly(await listed(stack, `LoteState = "paused" AND ${queue}`), batchId));
      await handle.executeUpdate<string, []>('resume');
      engine.open();
      await handle.result();

      await until(async () => isOnly(await listed(stack, `LoteState = "finished" AND ${queue}`), batchId));
      expect(await listed(stack, `LoteProblems = 1 AND ${queue}`)).toEqual([batchId]);
      const { searchAttributes } = await handle.describe();
      expect(searchAttributes).toMatchObject({ LoteBatch: [batchId], LoteState: ['finished'], LoteProblems: [1] });
      expect(JSON.stringify(searchAttributes), 'no word of the file').not.toMatch(/F-1|Secreto|501964843/);
      expect(await listed(stack, `LoteBatch = "${batchId}"`)).toEqual([
        batchId,
        `${batchId}-p0001`,
        `${batchId}-p0002`,
      ]);
      const refused = await stack.run('refused.csv', 'this is no file of invoices\n');
      const query = `LoteState = "refused" AND LoteProblems = 1 AND ${queue}`;
      await until(async () => isOnly(await listed(stack, query), refused.batchId));
    });
  });

  it('run without the attributes where the server has none', async () => {
    await withStack({ searchable: false }, async (stack) => {
      const result = await stack.run('plain.csv', [{ ref: 'F-1' }, { ref: 'F-2', taxCode: FAILING_TAX_CODE }]);

      expect(result.counts).toMatchObject({ issued: 1, failed: 1 });
      const { searchAttributes } = await stack.client.workflow.getHandle(result.batchId).describe();
      expect(Object.keys(searchAttributes)).not.toContain('LoteState');
    });
  });
});
