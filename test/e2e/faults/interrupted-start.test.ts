import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { connectClient } from '../../../src/wiring/temporal/connect-client.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { newPlace, type Place } from '../../support/lote/lote-command.ts';
import { processes } from '../../support/lote/processes.ts';
import { independentSandbox } from '../../support/servers/sandbox-books.ts';
import { sandboxEnv } from '../../support/servers/sandbox-env.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { until } from '../../support/until.ts';

/** Read for seconds, and it takes no room on a disk. */
const HUGE_BYTES = 2 * 1024 ** 3;

describe('a run that is interrupted while it starts its batches', { timeout: 300_000 }, () => {
  const all = processes();
  let place: Place;
  let sandbox: Sandbox;
  let env: Readonly<Record<string, string>>;
  let client: Client;

  beforeAll(async () => {
    place = await newPlace();
    sandbox = await independentSandbox();
    env = { ...(await sandboxEnv(place, sandbox)), ...sharedTemporal() };
    client = await connectClient({ address: env['TEMPORAL_ADDRESS'] ?? '' }, 'default');
    await mkdir(place.inputDir, { recursive: true });
  });

  afterAll(async () => {
    await all.killAll();
    await client?.connection.close();
    await sandbox?.close();
    await place?.remove();
  });

  async function startedBatches(): Promise<number> {
    let count = 0;
    const query = `TaskQueue = '${env['LOTE_TASK_QUEUE']}' AND WorkflowType = 'invoiceBatch'`;
    for await (const _ of client.workflow.list({ query })) count += 1;
    return count;
  }

  async function hugeFile(name: string): Promise<string> {
    const path = join(place.inputDir, name);
    const file = await open(path, 'w');
    await file.truncate(HUGE_BYTES);
    await file.close();
    return path;
  }

  it('reads no file to its end, and says no more than that it leaves', async () => {
    const run = all.start(['run', await hugeFile('first.csv')], env);
    await run.said('Starting the worker');
    // From then on there is work that ends in order.
    await until(
      async () => (await open(join(place.dataDir, 'endpoints.json')).catch(() => null))?.close() !== undefined,
    );
    run.signal('SIGINT');

    const { code, stderr } = await run.end;

    expect(code, stderr).toBe(130);
    expect(stderr).toContain('Leaving');
    expect(stderr).not.toContain('earlier run left');
    expect(await startedBatches()).toBe(0);
  });

  it('starts no further batch', async () => {
    const small = join(place.inputDir, 'small.csv');
    await writeInvoiceFile(small, { invoices: 3 });
    const run = all.start(['run', small, await hugeFile('second.csv')], env);
    await until(async () => (await startedBatches()) === 1);
    run.signal('SIGINT');

    const { code, stderr } = await run.end;

    expect(code, stderr).toBe(130);
    expect(await startedBatches()).toBe(1);
  });
});
