import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { connectClient } from '../../../src/wiring/temporal/connect-client.ts';
import { findStuckRun, type StuckRun } from '../../../src/wiring/temporal/stuck/stuck-run.ts';
import { watchStuckBatches } from '../../../src/wiring/temporal/stuck/stuck-watch.ts';
import type { BatchRecord } from '../../../src/domain/ports/ledger/batch-record.ts';
import { until } from '../../support/until.ts';

const FIRST = fileURLToPath(new URL('../../support/changed-workflow/first-version.ts', import.meta.url));
const SECOND = fileURLToPath(new URL('../../support/changed-workflow/second-version.ts', import.meta.url));

let client: Client;
let connection: NativeConnection;
beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR', () => undefined) });
  client = await connectClient({ address: inject('temporalAddress') }, 'default');
  connection = await NativeConnection.connect({ address: inject('temporalAddress') });
});
afterAll(async () => {
  await client.connection.close();
  await connection.close();
});

function bundleOf(workflowsPath: string): Promise<{ code: string }> {
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => undefined) });
}

function workerOf(taskQueue: string, workflowBundle: { code: string }): Promise<Worker> {
  return Worker.create({ connection, taskQueue, workflowBundle, maxCachedWorkflows: 0 });
}

describe('a run that was begun by one version of the workflows and goes on with another', { timeout: 180_000 }, () => {
  it('is stuck, with its page and the cause named and the log told once, until the first version is back', async () => {
    const taskQueue = `stuck-${randomUUID()}`;
    const [batchId, pageId] = [`batch-${randomUUID()}`, `page-${randomUUID()}`];
    const [first, second] = await Promise.all([bundleOf(FIRST), bundleOf(SECOND)]);
    const before = await workerOf(taskQueue, first);
    await before.runUntil(async () => {
      await client.workflow.start('batch', { workflowId: batchId, taskQueue, args: [pageId] });
      const started = () => client.workflow.getHandle(pageId).describe();
      await until(
        async () =>
          (await started().then(
            ({ historyLength }) => historyLength,
            () => 0,
          )) >= 5,
      );
    });
    expect(await findStuckRun(client, batchId)).toBeNull();
    const said: string[] = [];
    const batch = { batchId, workflowId: batchId, state: 'running', application: 'a' } as BatchRecord;
    const watch = watchStuckBatches({
      ...{
        ledger: { newestOpenBatches: () => Promise.resolve([batch]) },
        client,
        applications: new Set(['a']),
        everyMs: 200,
      },
      log: { error: (message) => void said.push(message) },
    });

    const after = await workerOf(taskQueue, second);
    let stuck: StuckRun | null = null;
    await after.runUntil(async () => {
      await client.workflow.getHandle(pageId).signal('goOn');
      await until(async () => (stuck = await findStuckRun(client, batchId)) !== null);
      await until(() => said.length > 0);
    });

    // The history keeps the cause of the first attempt alone, which may have gone to the worker that has just left.
    const causes = /^(?:NON_DETERMINISTIC_ERROR|WORKFLOW_TASK_TIMED_OUT)$/;
    expect(stuck).toMatchObject({ workflowId: pageId, cause: expect.stringMatching(causes) as string });
    const again = await workerOf(taskQueue, first);
    await again.runUntil(() => until(async () => (await findStuckRun(client, batchId)) === null && said.length > 1));
    await watch.stop();
    expect(said).toEqual([expect.stringContaining('is stuck'), expect.stringContaining('goes on')]);
    await client.workflow.getHandle(batchId).terminate('the test is over');
  });
});

describe('a run whose worker stood still', { timeout: 180_000 }, () => {
  it('is not called stuck in the log: its tasks, which nobody answered in time, go on with the worker', async () => {
    const taskQueue = `still-${randomUUID()}`;
    const [batchId, pageId] = [`batch-${randomUUID()}`, `page-${randomUUID()}`];
    const worker = await workerOf(taskQueue, await bundleOf(FIRST));
    await client.workflow.start('batch', {
      ...{ workflowId: batchId, taskQueue, args: [pageId], workflowTaskTimeout: '1s' },
    });
    // A process that stands still takes tasks by the polls that it has begun, and answers none.
    const poll = { namespace: 'default', taskQueue: { name: taskQueue }, identity: 'stands still' };
    for (let taken = 0; taken < 3; taken += 1)
      await client.connection.withDeadline(Date.now() + 60_000, () =>
        client.workflowService.pollWorkflowTaskQueue(poll),
      );
    expect(await findStuckRun(client, batchId)).toMatchObject({ cause: 'WORKFLOW_TASK_TIMED_OUT' });
    const said: string[] = [];
    let looks = 0;
    const batch = { batchId, workflowId: batchId, state: 'running', application: 'a' } as BatchRecord;
    const newestOpenBatches = () => Promise.resolve((looks += 1) > 0 ? [batch] : []);

    const watch = watchStuckBatches({
      ...{ ledger: { newestOpenBatches }, client, applications: new Set(['a']), everyMs: 5_000 },
      log: { error: (message) => void said.push(message) },
    });
    await until(() => looks === 1);
    await worker.runUntil(() => until(() => looks === 4));
    await watch.stop();

    expect(said).toEqual([]);
    expect(await findStuckRun(client, batchId)).toBeNull();
    await client.workflow.getHandle(batchId).terminate('the test is over');
  });
});
