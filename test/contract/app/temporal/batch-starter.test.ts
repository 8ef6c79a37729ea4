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
import { until } from '../../../support/until.ts';

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

  it('says who terminated a run, when and why, and of a running one nothing', async () => {
    const client = new Client({ connection: connection(), identity: 'maria@office' });
    const { run, asked } = await runOf(client);
    const runs = createRunDirectory(client);
    const temporalId = await runs.temporalId();

    expect(await runs.stopOf({ ...asked, temporalId })).toBeNull();
    await run.terminate(WHY);
    const { closeTime } = await run.describe();
    const stop = { what: 'terminated', at: closeTime?.getTime(), who: 'maria@office', why: WHY };
    expect(await runs.stopOf({ ...asked, temporalId })).toEqual(stop);
  });

  it('takes a run that is known no more for stopped where the database of Temporal is the one that had it', async () => {
    const client = newClient();
    const { run, asked } = await runOf(client);
    await run.terminate(WHY);
    await removeRun(client, asked.workflowId, asked.runId);
    const runs = createRunDirectory(client);
    const temporalId = await runs.temporalId();
    const wasStopped = async (id: string | null) => (await runs.stopOf({ ...asked, temporalId: id })) !== null;

    expect(temporalId).toMatch(/^[0-9a-f-]{36}$/u);
    expect(await wasStopped(temporalId)).toBe(true);
    expect(await wasStopped('00000000-0000-4000-8000-000000000000'), 'another database').toBe(false);
    expect(await wasStopped(null), 'claimed without its id').toBe(false);
  });

  it('tells a namespace from another one', async () => {
    const namespace = ownName('other');
    const workflowExecutionRetentionPeriod = { seconds: 86_400 } as never;
    await connection().workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    const ofDefault = createRunDirectory(newClient());
    const ofOther = createRunDirectory(new Client({ connection: connection(), namespace }));
    await until(() => ofOther.temporalId().then(Boolean, () => false));

    expect(await ofOther.temporalId()).not.toBe(await ofDefault.temporalId());
    expect(await ofOther.temporalId()).toBe(await ofOther.temporalId());
  });
});
