import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { describe, expect, inject, it } from 'vitest';
import { batchIdOf } from '../../../src/domain/messages/batch-id.ts';
import { hashFile } from '../../../src/ingest/file-chunks.ts';
import { awaitResult } from '../../../src/app/temporal/calls.ts';
import type { nightlyIssuance } from '../../../workflows/nightly-issuance.ts';
import { ownName, testInvoices } from '../../support/files/batch-file.ts';
import { withStack, type TestStack } from '../../support/lote/stack.ts';
import { until } from '../../support/until.ts';

/** No worker of the tests has this build. */
const OTHER_BUILD = '9.9.9+000000000000';
const FAILING = fileURLToPath(new URL('../../support/changed-workflow/failing-workflow.ts', import.meta.url));

/** Starts a workflow as a worker of another build would have taken it up. */
function onOtherBuild({ client, config }: TestStack, type: string, workflowId: string, args: readonly unknown[]) {
  const taskQueue = `${config.taskQueue}@${OTHER_BUILD}`;
  return client.workflow.start(type, { workflowId, taskQueue, args: [...args] });
}

/** Temporal lists a run a moment after it has begun. */
async function reconcileUntil(stack: TestStack, isDone: () => Promise<boolean>): Promise<void> {
  await until(async () => {
    await stack.reconcile();
    return isDone();
  });
}

describe('reconciliation', { concurrent: true }, () => {
  it('starts a batch again whose workflow task fails again and again', async () => {
    const logger = new DefaultLogger('ERROR', () => undefined);
    const workflowBundle = await bundleWorkflowCode({ workflowsPath: FAILING, logger });
    const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
    try {
      await withStack({}, async (stack) => {
        const taskQueue = `${stack.config.taskQueue}@${OTHER_BUILD}`;
        const worker = await Worker.create({ connection, taskQueue, workflowBundle });
        await worker.runUntil(async () => {
          await stack.drop('stuck.csv', testInvoices(3));
          const handle = await onOtherBuild(stack, 'invoiceBatch', ownName('stuck'), [{ file: 'stuck.csv' }]);
          const latest = stack.client.workflow.getHandle(handle.workflowId);
          await until(async () => ((await latest.describe()).raw.pendingWorkflowTask?.attempt ?? 0) >= 3);
          await reconcileUntil(stack, async () => (await latest.describe()).runId !== handle.firstExecutionRunId);

          expect((await awaitResult<{ counts: object }>(latest)).counts).toMatchObject({ issued: 3 });
        });
      });
    } finally {
      await connection.close();
    }
  });

  it('starts a night and its batch again that no worker of their build goes on with', async () => {
    await withStack({ env: { LOTE_DROP_STABLE_FOR: '100ms' } }, async (stack) => {
      await stack.drop('dropped.csv', testInvoices(3));
      const handle = await onOtherBuild(stack, 'nightlyIssuance', ownName('night'), [{ timezone: 'UTC' }]);
      const latest = stack.client.workflow.getHandle<typeof nightlyIssuance>(handle.workflowId);
      await reconcileUntil(stack, async () => (await latest.describe()).runId !== handle.firstExecutionRunId);

      expect(await awaitResult(latest)).toMatchObject({ files: 1, problems: 0 });
    });
  });

  it('starts a batch again that waits on the queue that the installation had before', async () => {
    await withStack({}, async (stack) => {
      await stack.drop('moved.csv', testInvoices(3));
      const { client, config, ledger } = stack;
      const sha256 = await hashFile(join(config.inputDir, 'moved.csv'));
      const workflowId = batchIdOf(config.application, 'moved.csv', sha256);
      const args = [{ file: 'moved.csv' }];
      const { firstExecutionRunId: runId } = await client.workflow.start('invoiceBatch', {
        ...{ workflowId, taskQueue: ownName('before'), args },
      });
      await ledger.claimBatch({
        ...{ batchId: workflowId, application: config.application, file: 'moved.csv', sha256, workflowId, runId },
        ...{ attempt: 1, now: Date.now(), takeOver: false, order: 'person' },
      });
      const latest = client.workflow.getHandle(workflowId);
      await reconcileUntil(stack, async () => (await latest.describe()).runId !== runId);

      expect((await awaitResult<{ counts: object }>(latest)).counts).toMatchObject({ issued: 3 });
    });
  });
});
