import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { processStartTime } from '../../../../src/runtime/process/process-start-time.ts';
import { superviseTemporal } from '../../../../src/runtime/temporal/supervise-temporal.ts';
import { acquireTemporalBinary } from '../../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../../src/runtime/temporal/temporal-server.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

const MINUTE_MS = 60_000;

async function pidIn(dataDir: string): Promise<number> {
  return (JSON.parse(await readFile(join(dataDir, 'temporal.json'), 'utf8')) as { pid: number }).pid;
}

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
    const server = await startTemporalServer({ binary, dataDir, namespace: 'default', port: 0, uiPort: 0 });
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
    const killed = await pidIn(dataDir);

    process.kill(killed, 'SIGKILL');
    await said.until('is up again');

    expect((await client.workflow.getHandle('survivor').describe()).status.name).toBe('RUNNING');
    const restarted = await pidIn(dataDir);
    expect(restarted).not.toBe(killed);
    await supervised.release();
    await server.stop();
    expect(await processStartTime(restarted)).toBeNull();
  });

  it('is given up after five restarts within ten minutes, with an error that says where to look', async () => {
    const said = log();
    const supervised = superviseTemporal({
      server: { alive: () => Promise.resolve(false), restart: () => Promise.resolve(true) },
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
        alive: () => Promise.resolve(starts > 1),
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

  it('may be restarted for ever when its ends are far apart', async () => {
    let now = 0;
    const said = log();
    const supervised = superviseTemporal({
      server: {
        alive: () => Promise.resolve(false),
        restart: () => {
          now += 11 * MINUTE_MS;
          return Promise.resolve(true);
        },
      },
      log: said,
      now: () => now,
    });

    await said.until('starting it again', 8);
    await supervised.release();

    expect(said.lines.join()).not.toContain('giving up');
  });
});
