import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { describe, expect, inject, it } from 'vitest';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';
import { distributedPlace } from '../../support/lote/distributed-place.ts';
import { until } from '../../support/until.ts';

const NAMESPACE = `lost-${process.pid}`;

describe.skipIf(inject('postgresUrl') === null)(
  'a namespace of Temporal that is not there',
  { timeout: 300_000 },
  () => {
    it('is named by a worker that starts, and by one that runs, which polls again when it is made again', async () => {
      // To delete a namespace is work for the whole server.
      const binary = await acquireTemporalBinary(() => undefined, process.env);
      const dataDir = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
      const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
      const temporalAddress = server.address;
      const env = { TEMPORAL_NAMESPACE: NAMESPACE };
      const there = await distributedPlace({ postgresUrl: inject('postgresUrl') ?? '', temporalAddress, env });
      const connection = await Connection.connect({
        address: temporalAddress,
      });
      const service = connection.workflowService;
      const queue = { namespace: NAMESPACE, taskQueue: { name: there.env['LOTE_TASK_QUEUE'] ?? '' }, taskQueueType: 1 };
      const make = async (): Promise<void> => {
        const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
        const namespace = { namespace: NAMESPACE, workflowExecutionRetentionPeriod };
        // The name of a removed one is free a moment later, and a new one is known some seconds later.
        await until(async () => service.registerNamespace(namespace).then(...SUCCESS));
        await until(async () => service.describeTaskQueue(queue).then(...SUCCESS));
      };
      try {
        const refused = await there.processes.start(['worker'], there.env).end;
        expect(refused.code, refused.stderr).toBe(3);
        expect(refused.stderr).toContain(`the server must have the namespace ${NAMESPACE}`);
        expect(refused.stderr).not.toContain('Unforeseen');

        await make();
        const worker = there.processes.start(['worker'], there.env);
        await worker.said('Worker on task queue');
        await connection.operatorService.deleteNamespace({ namespace: NAMESPACE });
        await worker.said('temporal has no such namespace; work stands still: make it, then start this worker again');
        await make();
        await worker.said('temporal answers again');
        await until(async () => ((await service.describeTaskQueue(queue)).pollers ?? []).length > 0);
      } finally {
        await connection.close();
        await there.remove();
        await server.stop();
        await rm(dataDir, { recursive: true, force: true });
      }
    });
  },
);

const SUCCESS = [() => true, () => false] as const;
