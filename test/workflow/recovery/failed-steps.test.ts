import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AsyncCompletionClient } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { expectAgreement, withStack } from '../../support/lote/stack.ts';
import { testInvoices } from '../../support/files/batch-file.ts';
import type { FrontAction } from '../../support/servers/service-front.ts';
import { until } from '../../support/until.ts';
import type { BatchHandle } from '../../../src/app/temporal/batch-starter.ts';
import { batchFailure } from '../../../src/app/temporal/calls.ts';

const FAILURE = ApplicationFailure.nonRetryable('An operator failed the step.', 'internal');

async function pendingActivity(handle: BatchHandle, name: string): Promise<string | null> {
  const { raw } = await handle.describe();
  const found = (raw.pendingActivities ?? []).find(({ activityType }) => activityType?.name === name);
  return found?.activityId ?? null;
}

describe('a step of a batch that fails for good', { concurrent: true }, () => {
  it('ends the run with its error, and the next reconciliation closes the batch and writes its report', async () => {
    await withStack({}, async (stack) => {
      const [step, path, invoices] = ['submitSlice', '/v1/invoices', 200] as const;
      let answer = (): void => undefined;
      const answered = new Promise<'cut'>((resolve) => (answer = () => resolve('cut')));
      stack.front.script = (request) => (request.path.startsWith(path) ? answered : 'pass');
      const { batchId, handle } = await stack.begin('fails.csv', testInvoices(invoices));
      await until(() => stack.front.requests.some((request) => request.path.startsWith(path)));
      const { workflowId } = handle;
      const activityId = await pendingActivity(handle, step);
      if (activityId === null) throw new Error(`The run waits for no ${step}`);
      const steps = new AsyncCompletionClient({ connection: stack.client.connection });

      await steps.fail({ workflowId, activityId }, FAILURE);
      const error: unknown = await handle.result().catch((caught: unknown) => caught);
      answer();

      expect(batchFailure(error)).toMatchObject({ code: 'internal', message: FAILURE.message });
      stack.front.script = () => 'pass';
      expect(await stack.reconcile()).toMatchObject({ orphans: [batchId], reports: [batchId] });
      expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'finished' });
      await access(`${stack.config.reportsDir}/${batchId}/report.json`);
      await expectAgreement(stack, batchId);
      expect((await stack.run('fails.csv', testInvoices(invoices))).counts).toMatchObject({ issued: invoices });
    });
  });
});

describe('a report that fails for good', () => {
  it('ends the run, which says so and is listed as ended, and the next reconciliation writes it', async () => {
    await withStack({}, async (stack) => {
      const { reportsDir } = stack.config;
      stack.front.script = async ({ path }): Promise<FrontAction> => {
        // A file where the folder should be: the report is tried again until somebody takes it away.
        if (path.startsWith('/v1/invoices')) await writeFile(reportsDir, '');
        return 'pass';
      };
      const { batchId, handle } = await stack.begin('unreported.csv', testInvoices(3));
      await until(async () => (await stack.progress(handle)).waitingFor?.includes('folder-unusable') === true);

      // As an operator does with the options of an activity in the Temporal UI: no further try.
      await stack.client.workflowService.updateActivityOptions({
        ...{ namespace: 'default', execution: { workflowId: handle.workflowId }, type: 'writeReport' },
        ...{ activityOptions: { retryPolicy: { maximumAttempts: 1 } } },
        updateMask: { paths: ['retry_policy.maximum_attempts'] },
      });
      const error: unknown = await handle.result().catch((caught: unknown) => caught);

      expect(batchFailure(error)).toMatchObject({
        ...{
          code: 'folder-unusable',
          message: expect.stringMatching(/^Writing to the reports folder .*\. .*reconciliation/u) as unknown,
        },
      });
      const { searchAttributes } = await handle.describe();
      expect(searchAttributes['LoteState']).toEqual(['finished']);
      expect(await stack.ledger.findBatch(batchId)).toMatchObject({ state: 'finished' });
      await rm(reportsDir);
      expect((await stack.reconcile()).reports).toEqual([batchId]);
      await access(join(reportsDir, batchId, 'report.json'));
      await expectAgreement(stack, batchId);
    });
  });
});
