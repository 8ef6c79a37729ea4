import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createRunDirectory, startBatch, type BatchHandle } from '../../../../src/wiring/temporal/batch-starter.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';

describe('startBatch', () => {
  let connection: Connection;

  beforeAll(async () => {
    connection = await Connection.connect({ address: inject('temporalAddress') });
  });

  afterAll(() => connection.close());

  /** Two installations of one Temporal namespace, which have the same file. */
  async function installations() {
    const inputDir = await temporaryDirectory();
    await writeFile(join(inputDir, 'night.csv'), 'a file');
    const common = { client: new Client({ connection }), application: ownName('starter'), inputDir };
    const start = (taskQueue: string): Promise<{ handle: BatchHandle }> =>
      startBatch({ ...common, taskQueue }, { file: 'night.csv' });
    return { start, ours: ownName('ours'), theirs: ownName('theirs') };
  }

  it('joins the run of the same file', async () => {
    const { start, ours } = await installations();
    const { handle } = await start(ours);
    onTestFinished(() => void handle.terminate());

    const again = await start(ours);

    expect((await again.handle.describe()).runId).toBe((await handle.describe()).runId);
  });

  it('does not join the run that another installation has of the same file, and says so', async () => {
    const { start, ours, theirs } = await installations();
    const { handle } = await start(theirs);
    onTestFinished(() => void handle.terminate());

    await expect(start(ours)).rejects.toMatchObject({
      code: 'ledger-foreign',
      message: expect.stringContaining(
        `must work on task queue ${ours}, but ${handle.workflowId} runs on ${theirs}`,
      ) as string,
    });
  });
});

describe('createRunDirectory', () => {
  let connection: Connection;

  beforeAll(async () => {
    connection = await Connection.connect({ address: inject('temporalAddress') });
  });

  afterAll(() => connection.close());

  it.each([
    ['invoiceBatch', false],
    ['reconciliation', true],
  ])(
    'takes a terminated %s for stopped, and a running one only where it may have died over a batch',
    async (type, isStop) => {
      const client = new Client({ connection });
      const nobody = ownName('nobody');
      const run = await client.workflow.start(type, { workflowId: nobody, taskQueue: nobody, args: [] });
      const runs = createRunDirectory(client);

      expect(await runs.wasStopped(nobody, run.firstExecutionRunId)).toBe(isStop);
      await run.terminate('a click in the Temporal UI');
      expect(await runs.wasStopped(nobody, run.firstExecutionRunId)).toBe(true);
    },
  );

  it('takes no run for stopped that Temporal does not know', async () => {
    const runs = createRunDirectory(new Client({ connection }));

    expect(await runs.wasStopped(ownName('lost'), '00000000-0000-4000-8000-000000000000')).toBe(false);
  });
});
