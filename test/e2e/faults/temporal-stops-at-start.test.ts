import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { acquireTemporalBinary } from '../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../src/runtime/temporal/temporal-server.ts';
import { distributedPlace } from '../../support/lote/distributed-place.ts';
import type { RunningCommand } from '../../support/lote/lote-command.ts';

it.skipIf(inject('postgresUrl') === null)(
  'a worker whose Temporal server stops answering while it starts says so, leaves when told to, and comes up when the server goes on',
  async () => {
    const binary = await acquireTemporalBinary(() => undefined, process.env);
    const dataDir = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
    const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
    const temporalAddress = server.address;
    const there = await distributedPlace({ postgresUrl: inject('postgresUrl') ?? '', temporalAddress });
    const { pid } = JSON.parse(await readFile(join(dataDir, 'temporal.json'), 'utf8')) as { pid: number };
    try {
      const leaving = await startWhileItStops();
      leaving.signal('SIGTERM');
      expect((await leaving.end).code, 'as who hears it, also as the first process of a container').toBe(143);
      process.kill(pid, 'SIGCONT');

      const worker = await startWhileItStops();
      process.kill(pid, 'SIGCONT');
      await worker.said('Worker on task queue');
    } finally {
      process.kill(pid, 'SIGCONT');
      await there.remove();
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    }

    async function startWhileItStops(): Promise<RunningCommand> {
      const worker = there.processes.start(['worker'], there.env);
      await worker.said('Starting the worker');
      process.kill(pid, 'SIGSTOP');
      await worker.said('temporal does not answer; work stands still until it does');
      expect(worker.output()).not.toContain('Worker on task queue');
      return worker;
    }
  },
);
