import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectClient } from '../../../src/app/temporal/temporal-connection.ts';
import { shared } from '../../support/lifetime.ts';
import { lotePlace } from '../../support/lote/running-lote.ts';
import { until } from '../../support/until.ts';

/** Read for seconds, and it takes no room on a disk. */
const HUGE_BYTES = 2 * 1024 ** 3;

describe('a run that is interrupted while it starts its batches', () => {
  const place = shared(() => lotePlace());
  let client: Client;

  beforeAll(async () => {
    client = await connectClient({ address: place.env['TEMPORAL_ADDRESS'] ?? '' }, 'default');
  });

  afterAll(() => client?.connection.close());

  async function startedBatches(): Promise<number> {
    let count = 0;
    const query = `TaskQueue = '${place.env['LOTE_TASK_QUEUE']}' AND WorkflowType = 'invoiceBatch'`;
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
    const run = place.start('run', await hugeFile('first.csv'));
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
    const small = await place.file('small.csv', { invoices: 3 });
    const run = place.start('run', small, await hugeFile('second.csv'));
    await until(async () => (await startedBatches()) === 1);
    run.signal('SIGINT');

    const { code, stderr } = await run.end;

    expect(code, stderr).toBe(130);
    expect(await startedBatches()).toBe(1);
  });
});
