import { Client, Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { superviseTemporal } from '../../../../src/app/temporal/embedded-temporal.ts';
import { acquireTemporalBinary } from '../../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../../src/app/temporal/temporal-server.ts';
import { temporalProcess } from '../../../support/namespaces.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

/** A log that wakes whoever waits for a line. */
function log() {
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  const write = (message: string): void => {
    lines.push(message);
    wake();
  };
  return {
    lines,
    warn: write,
    error: write,
    async until(text: string, times = 1) {
      while (lines.filter((line) => line.includes(text)).length < times)
        await new Promise<void>((resolve) => (wake = resolve));
    },
  };
}

describe('a supervised Temporal server', () => {
  it('is started again on its port with its runs when it is killed, and not when it is stopped', async () => {
    const dataDir = await temporaryDirectory();
    const binary = await acquireTemporalBinary((line) => console.error(line), process.env);
    const server = await startTemporalServer({
      ...{ binary, dataDir, namespace: 'default', port: 0, uiPort: 0, notify: console.error },
    });
    const said = log();
    const supervised = superviseTemporal({ server, log: said, now: Date.now });
    onTestFinished(async () => {
      await supervised.release();
      await server.stop();
    });
    const connection = await Connection.connect({ address: server.address });
    onTestFinished(() => connection.close());
    const client = new Client({ connection });
    await client.workflow.start('anything', { taskQueue: 'nobody', workflowId: 'survivor' });
    const killed = await temporalProcess(dataDir);

    process.kill(Number(killed), 'SIGKILL');
    await said.until('is up again');

    expect((await client.workflow.getHandle('survivor').describe()).status.name).toBe('RUNNING');
    const restarted = await temporalProcess(dataDir);
    expect(restarted).not.toBe(killed);
    await supervised.release();
    await server.stop();
    expect(await temporalProcess(dataDir)).toBeNull();
  });

  it('is given up after five restarts within ten minutes, with an error that says where to look', async () => {
    const said = log();
    const supervised = superviseTemporal({
      server: { ended: () => Promise.resolve(), restart: () => Promise.resolve(true) },
      log: said,
      now: () => 0,
    });

    await expect(supervised.lost).rejects.toMatchObject({
      code: 'temporal-unavailable',
      message: expect.stringContaining('temporal.log') as string,
    });
    expect(said.lines.filter((line) => line.includes('starting it again'))).toHaveLength(5);
  });

  it('is tried again when a start of it fails with an error, such as on a full disk', async () => {
    const said = log();
    let starts = 0;
    const supervised = superviseTemporal({
      server: {
        ended: () => (starts > 1 ? new Promise(() => undefined) : Promise.resolve()),
        restart() {
          starts += 1;
          return starts > 1 ? Promise.resolve(true) : Promise.reject(new Error('ENOSPC'));
        },
      },
      log: said,
      now: () => 0,
    });

    await Promise.race([said.until('is up again'), supervised.lost]);
    await supervised.release();

    expect(said.lines.join()).toContain('could not be started again');
  });
});
