import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectClient } from '../../../../src/wiring/temporal/connect-client.ts';
import { checkOpenRuns } from '../../../../src/wiring/doctor/check-open-runs.ts';
import { until } from '../../../support/until.ts';
import { ownName } from '../../../support/files/batch-file.ts';

const HERE = 'the-queue-of-today';

let client: Client;

beforeAll(async () => {
  client = await connectClient({ address: inject('temporalAddress') }, 'default');
});

afterAll(() => client.connection.close());

/** An open run on this task queue, on which nobody works. */
async function runOn(taskQueue: string) {
  const workflowId = ownName('open-run');
  const handle = await client.workflow.start('invoiceBatch', { workflowId, taskQueue, args: [{ file: 'none.csv' }] });
  const runId = handle.firstExecutionRunId;
  return {
    batch: { batchId: workflowId, workflowId, runId, startedAt: Date.now() },
    end: () => handle.terminate('test'),
  };
}

describe('runs of open batches', () => {
  it('that wait on another task queue, on which nobody works, are named with the way out', async () => {
    const queue = ownName('queue');
    const [one, other, here] = [await runOn(queue), await runOn(queue), await runOn(HERE)];
    try {
      const checks = await checkOpenRuns(client, HERE, [one.batch, here.batch, other.batch]);

      expect(checks).toMatchObject([{ name: 'open batches', state: 'trouble' }]);
      expect(checks[0]?.detail).toContain(`${one.batch.batchId}, ${other.batch.batchId}. This Lote works on ${HERE}.`);
      expect(checks[0]?.cure).toContain(`LOTE_TASK_QUEUE=${queue}`);
    } finally {
      await Promise.all([one, other, here].map(({ end }) => end()));
    }
  });

  it('are no trouble once they have ended, where Temporal does not know them, and where somebody works', async () => {
    const ended = await runOn(ownName('queue'));
    await ended.end();
    const unknown = { ...ended.batch, runId: '11111111-2222-4333-8444-555555555555' };
    const queue = ownName('queue');
    const worked = await runOn(queue);
    try {
      await client.connection.withDeadline(Date.now() + 2_500, () =>
        client.workflowService.pollActivityTaskQueue({
          ...{ namespace: 'default', taskQueue: { name: queue, kind: 1 }, identity: 'a worker' },
        }),
      );
      expect(await checkOpenRuns(client, HERE, [ended.batch, unknown])).toEqual([]);
      expect(await checkOpenRuns(client, HERE, [worked.batch]), 'its activities alone').toHaveLength(1);
      // A server that is busy with other tests does not list each poll.
      await until(async () => {
        await client.connection
          .withDeadline(Date.now() + 2_500, () =>
            client.workflowService.pollWorkflowTaskQueue({
              ...{ namespace: 'default', taskQueue: { name: queue, kind: 1 }, identity: 'a worker' },
            }),
          )
          .catch(() => undefined);
        return (await checkOpenRuns(client, HERE, [worked.batch])).length === 0;
      });
    } finally {
      await worked.end();
    }
  });
});
