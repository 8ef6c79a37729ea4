import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startBatch, type BatchHandle } from '../../../../src/app/temporal/batch-starter.ts';
import { createRunDirectory } from '../../../../src/app/temporal/run-directory.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { removeRun } from '../../../support/lote/stack.ts';

const { client: newClient, connection } = temporalClient();

describe('startBatch', () => {
  /** Two installations of one Temporal namespace, which have the same file. */
  async function installations() {
    const inputDir = await temporaryDirectory();
    await writeFile(join(inputDir, 'night.csv'), 'a file');
    const common = { client: newClient(), application: ownName('starter'), inputDir };
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
      message: expect.stringContaining(`on task queue ${ours}, but ${handle.workflowId} runs on ${theirs}`) as string,
    });
  });
});

describe('createRunDirectory', () => {
  const WHY = 'a click in the Temporal UI';

  /** A run that no worker takes. */
  async function runOf(client: Client) {
    const nobody = ownName('nobody');
    const run = await client.workflow.start('invoiceBatch', { workflowId: nobody, taskQueue: nobody, args: [] });
    return { run, asked: { workflowId: nobody, runId: run.firstExecutionRunId } };
  }

  it('says who terminated a run, when and why, and of a running or unknown one nothing', async () => {
    const client = new Client({ connection: connection(), identity: 'maria@office' });
    const { run, asked } = await runOf(client);
    const runs = createRunDirectory(client);

    expect(await runs.stopOf(asked)).toBeNull();
    await run.terminate(WHY);
    const { closeTime } = await run.describe();
    const stop = { what: 'terminated', at: closeTime?.getTime(), who: 'maria@office', why: WHY };
    expect(await runs.stopOf(asked)).toEqual(stop);
    await removeRun(client, asked.workflowId, asked.runId);
    expect(await runs.stopOf(asked)).toBeNull();
  });
});
