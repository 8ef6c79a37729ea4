import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { expect, it, onTestFinished } from 'vitest';
import { acquireTemporalBinary } from '../../../../src/runtime/temporal/temporal-binary.ts';
import { connectTemporal } from '../../../../src/runtime/temporal/temporal-connection.ts';
import { describeNightlyRuns, scheduleNightlyRuns } from '../../../../src/wiring/schedules/nightly-schedule.ts';
import { startCommand, type RunningCommand } from '../../../support/lote/lote-command.ts';
import { ownPort } from '../../../support/servers/own-port.ts';

/** After this the server itself gives up, with a code that the SDK does not repeat. */
const SERVER_GIVES_UP_MS = 30_000;

it('describes a schedule also where the server has lost the question, and gave up to answer it', async () => {
  const start = await temporalOnOnePort();
  const idle = start(['--dynamic-config-value', 'worker.perNamespaceWorkerCount=0']);
  const connection = await connectTemporal({ address: start.address });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const place = { client, taskQueue: 'any', application: 'default' };
  await scheduleNightlyRuns(place, { hour: 2, minute: 30, timezone: 'Europe/Lisbon', catchUpMs: 60_000 });

  const described = describeNightlyRuns(place);
  await Promise.race([described, sleep(SERVER_GIVES_UP_MS + 2_000)]);
  idle.killGroup();
  await idle.end;
  start([]);

  expect(await described).toMatchObject({ hour: 2, minute: 30, timezone: 'Europe/Lisbon' });
});

/** Starts of one dev server on the same file and port, one after the other; the last one ends with the test. */
async function temporalOnOnePort() {
  const binary = await acquireTemporalBinary(() => undefined, process.env);
  const directory = await mkdtemp(join(tmpdir(), 'lote-temporal-'));
  const port = await ownPort();
  const running: RunningCommand[] = [];
  onTestFinished(async () => {
    for (const one of running) one.killGroup();
    await Promise.all(running.map(({ end }) => end));
    await rm(directory, { recursive: true, force: true });
  });
  const start = (options: readonly string[]): RunningCommand => {
    const command = [binary, 'server', 'start-dev', '--headless', '--ip', '127.0.0.1', '--port', String(port)];
    const file = ['--db-filename', join(directory, 'temporal.db'), '--log-level', 'error'];
    const one = startCommand([...command, ...file, ...options], { env: { HOME: directory } });
    running.push(one);
    return one;
  };
  return Object.assign(start, { address: `127.0.0.1:${port}` });
}
