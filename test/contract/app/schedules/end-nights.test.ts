import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from 'vitest';
import { nightlyOff } from '../../../../src/cli/commands/nightly.ts';
import { createRunDirectory } from '../../../../src/app/temporal/run-directory.ts';
import {
  describeNightlyRuns,
  scheduleNightlyRuns,
  nightlyScheduleId,
  unscheduleNightlyRuns,
} from '../../../../src/app/schedules/nightly-schedule.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { printed } from '../../../unit/cli/printed.ts';

const PLAN = { hour: 2, minute: 0, timezone: 'Europe/Lisbon', catchUpMs: 12 * 3_600_000 };

let client: Client;

beforeAll(async () => {
  client = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
});

afterAll(() => client.connection.close());

it('`lote nightly off` names what runs, and its runs find their schedule gone', async () => {
  const application = ownName('off');
  const place = { client, application, taskQueue: application };
  onTestFinished(async () => void (await unscheduleNightlyRuns(place)));
  await scheduleNightlyRuns(place, PLAN);
  await client.schedule.getHandle(nightlyScheduleId(application)).trigger();
  const started = async () => (await describeNightlyRuns(place))?.recent.at(-1)?.workflowId;
  await expect.poll(started).toBeDefined();
  const id = (await started()) ?? '';
  const scheduled = await client.workflow.getHandle(id).describe();
  const byHand = await client.workflow.start('nightlyIssuance', {
    ...{ workflowId: ownName('by-hand'), taskQueue: application, args: [] },
  });
  onTestFinished(async () => {
    for (const run of [id, byHand.workflowId]) await client.workflow.getHandle(run).terminate();
  });
  const runs = createRunDirectory(client);
  const env = { TEMPORAL_ADDRESS: inject('temporalAddress'), LOTE_APPLICATION: application };
  const off = async (): Promise<unknown> => {
    const { stdout } = printed();
    await nightlyOff({ ...env, LOTE_TASK_QUEUE: application }, { json: true });
    return JSON.parse(stdout());
  };

  expect(await runs.isSwitchedOff(id, scheduled.runId)).toBe(false);
  expect(await off()).toEqual({ nights: null, was: true, running: id });

  expect(await describeNightlyRuns(place)).toBeNull();
  expect(await runs.isSwitchedOff(id, scheduled.runId)).toBe(true);
  expect(await runs.isSwitchedOff(byHand.workflowId, byHand.firstExecutionRunId)).toBe(false);
  expect((await client.workflow.getHandle(id).describe()).status.name).toBe('RUNNING');
  expect(await off()).toEqual({ nights: null, was: false, running: null });

  await scheduleNightlyRuns(place, PLAN);
  expect(await runs.isSwitchedOff(id, scheduled.runId)).toBe(true);
});
