import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { startBatch, type BatchHandle } from '../../../../src/wiring/temporal/batch-starter.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { temporaryDirectory } from '../../../unit/runtime/temporary-directory.ts';

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
