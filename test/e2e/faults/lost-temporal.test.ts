import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { temporalProcess } from '../../support/namespaces.ts';
import { ownTemporal, testFleet, type OwnTemporal } from '../../support/lote/fleet.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';
import { until } from '../../support/until.ts';

const NAMESPACE = `lost-${process.pid}`;
const SUCCESS = [() => true, () => false] as const;

async function testTemporal(): Promise<OwnTemporal> {
  const temporal = await ownTemporal();
  onTestFinished(() => temporal.stop());
  return temporal;
}

describe.skipIf(inject('postgresUrl') === null)('a worker', () => {
  it('whose namespace is not there names it when it starts, and while it runs, and polls again when it is made again', async () => {
    // To delete a namespace is work for the whole server.
    const { server } = await testTemporal();
    const fleet = await testFleet({ temporalAddress: server.address, env: { TEMPORAL_NAMESPACE: NAMESPACE } });
    const { connection } = fleet.client;
    const service = fleet.client.workflowService;
    const taskQueue = { name: fleet.env['LOTE_TASK_QUEUE'] ?? '' };
    const queue = { namespace: NAMESPACE, taskQueue, taskQueueType: 1 };
    const make = async (): Promise<void> => {
      const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
      const namespace = { namespace: NAMESPACE, workflowExecutionRetentionPeriod };
      // The name of a removed one is free a moment later, and a new one is known some seconds later.
      await until(async () => service.registerNamespace(namespace).then(...SUCCESS));
      await until(async () => service.describeTaskQueue(queue).then(...SUCCESS));
    };
    const refused = await fleet.start('worker').end;
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain(`the server must have the namespace ${NAMESPACE}`);
    expect(refused.stderr).not.toContain('Unforeseen');

    await make();
    const worker = await fleet.up('worker');
    await connection.operatorService.deleteNamespace({ namespace: NAMESPACE });
    await worker.said('temporal has no such namespace; work stands still: make it, then start this worker again');
    await make();
    await worker.said('temporal answers again');
    await until(async () => ((await service.describeTaskQueue(queue)).pollers ?? []).length > 0);
  });

  it('whose Temporal server stops answering while it starts says so, leaves when told to, and comes up when the server goes on', async () => {
    const { server, dataDir } = await testTemporal();
    const fleet = await testFleet({ temporalAddress: server.address });
    const pid = Number(await temporalProcess(dataDir));
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    const startWhileItStops = async (): Promise<RunningCommand> => {
      const worker = fleet.start('worker');
      await worker.said('Starting the worker');
      process.kill(pid, 'SIGSTOP');
      await worker.said('temporal does not answer; work stands still until it does');
      expect(worker.output()).not.toContain('Worker on task queue');
      return worker;
    };

    const leaving = await startWhileItStops();
    leaving.signal('SIGTERM');
    expect((await leaving.end).code, 'as who hears it, also as the first process of a container').toBe(143);
    process.kill(pid, 'SIGCONT');

    const worker = await startWhileItStops();
    process.kill(pid, 'SIGCONT');
    await worker.said('Worker on task queue');
  });
});
