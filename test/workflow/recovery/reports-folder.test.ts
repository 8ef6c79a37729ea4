import { rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';
import { liveThroughReportsFault, REPORTS_FAULTS } from '../../support/crash/reports-fault.ts';

describe('a report that cannot be written', { timeout: 180_000 }, () => {
  it.each(REPORTS_FAULTS)(
    'keeps its batch waiting, which names the folder, and is written later: $name',
    async (fault) => {
      await liveThroughReportsFault(fault, { invoices: 2 });
    },
  );
});

/** A file where the folder should be, as a mount point that was never a folder. */
async function withoutFolder(stack: TestStack): Promise<void> {
  await rm(stack.config.reportsDir, { recursive: true, force: true });
  await writeFile(stack.config.reportsDir, '');
}

describe('a reports folder that cannot be read', { concurrent: true, timeout: 180_000 }, () => {
  it('keeps a file waiting that is just being read, which names the folder, and goes on by itself', async () => {
    await withStack({}, async (stack) => {
      await withoutFolder(stack);
      await stack.drop('read.csv', testInvoices(2));
      const { handle } = await stack.start({ file: 'read.csv' });

      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      const { waitingFor, phase } = await stack.progress(handle);
      await rm(stack.config.reportsDir);

      expect(phase).toBe('reading');
      expect(waitingFor).toContain(`folder-unusable: Writing to the reports folder ${stack.config.reportsDir}`);
      expect((await handle.result()).counts).toMatchObject({ issued: 2 });
    });
  });

  it('keeps reconciliation from closing a batch without a run, and from nothing else', async () => {
    await withStack({}, async (stack) => {
      stack.front.script = ({ path }) => (path.startsWith('/v1/merchants') ? { status: 503 } : 'pass');
      await stack.drop('left.csv', testInvoices(2));
      const { batchId, handle } = await stack.start({ file: 'left.csv' });
      await until(async () => (await stack.progress(handle)).waitingFor !== null);
      await handle.terminate('by the test');
      await withoutFolder(stack);

      expect(await stack.reconcile()).toMatchObject({ orphans: [], reports: [] });
      await rm(stack.config.reportsDir);
      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId], reports: [batchId] });
    });
  });
});
