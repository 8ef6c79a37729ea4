import type { Client } from '@temporalio/client';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { nightlyOff } from '../../../../src/cli/commands/nightly.ts';
import { createRunDirectory } from '../../../../src/app/temporal/run-directory.ts';
import {
  describeNightlyRuns,
  nightlyScheduleId,
  scheduleNightlyRuns,
  startNightlyRun,
  unscheduleNightlyRuns,
  type NightlyPlace,
} from '../../../../src/app/schedules/nightly-schedule.ts';
import { workerIdentity } from '../../../../src/app/temporal/queue-pollers.ts';
import { temporalClient } from '../../../support/servers/temporal-client.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { printed } from '../../../unit/cli/printed.ts';

const TWELVE_HOURS = 12 * 3_600_000;
const LISBON = { hour: 2, minute: 0, timezone: 'Europe/Lisbon', catchUpMs: TWELVE_HOURS };
const UTC = { ...LISBON, timezone: 'UTC' };

describe('the schedule of nights', () => {
  const { client: newClient } = temporalClient();
  let client: Client;

  beforeAll(() => {
    client = newClient();
  });

  /** A place whose schedule goes with the test. */
  function ownPlace(application = ownName('n'), taskQueue = `lote-${application}`): NightlyPlace {
    const place = { client, application, taskQueue };
    onTestFinished(async () => void (await unscheduleNightlyRuns(place)));
    return place;
  }

  /** As a worker does without an end. */
  function pollOnce(taskQueue: string, identity: string): Promise<unknown> {
    return client.connection.withDeadline(Date.now() + 2_500, () =>
      client.workflowService.pollWorkflowTaskQueue({ namespace: 'default', taskQueue: { name: taskQueue }, identity }),
    );
  }

  it('runs every day at the given time of the given zone, one at a time, with a catch-up window', async () => {
    const place = ownPlace();
    await scheduleNightlyRuns(place, LISBON);

    const state = await describeNightlyRuns(place);

    expect(state).toMatchObject({ ...LISBON, paused: false });
    const described = await client.schedule.getHandle(`${place.application}-lote-nightly`).describe();
    expect(described.policies).toMatchObject({ overlap: 'SKIP', pauseOnFailure: true });
    expect(described.action).toMatchObject({ workflowType: 'nightlyIssuance', taskQueue: place.taskQueue });
    const hours = state?.nextTimes.map((time) =>
      new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Lisbon', timeStyle: 'short' }).format(time),
    );
    expect(new Set(hours)).toEqual(new Set(['02:00']));
  });

  it('is changed in place, and let go when it was paused', async () => {
    const place = ownPlace();
    await scheduleNightlyRuns(place, LISBON);
    await client.schedule.getHandle(`${place.application}-lote-nightly`).pause('a night failed');
    expect(await describeNightlyRuns(place)).toMatchObject({ paused: true, note: 'a night failed' });

    const madrid = { hour: 3, minute: 30, timezone: 'Europe/Madrid', catchUpMs: 60_000 };
    await scheduleNightlyRuns(place, madrid);

    expect(await describeNightlyRuns(place)).toMatchObject({ ...madrid, paused: false });
  });

  it('stays with the installation whose worker polls for it', async () => {
    const place = ownPlace();
    await scheduleNightlyRuns(place, UTC);
    const other = { ...place, taskQueue: `${place.taskQueue}-other` };
    const worker = workerIdentity(`lgr_test/${place.application}`, { pid: 1, own: 'test', build: '0.0.0+a' });
    await pollOnce(place.taskQueue, worker);

    const foreign = { code: 'ledger-foreign', message: expect.stringContaining(place.taskQueue) as string };
    await expect(scheduleNightlyRuns(other, { ...UTC, hour: 3 })).rejects.toMatchObject(foreign);
    await expect(startNightlyRun(other)).rejects.toMatchObject(foreign);
    await expect(unscheduleNightlyRuns(other)).rejects.toMatchObject(foreign);
    expect(await describeNightlyRuns(place)).toMatchObject({ hour: 2, recent: [] });
  });

  it('goes to another installation where no worker polls for it', async () => {
    const place = ownPlace();
    await scheduleNightlyRuns(place, UTC);
    const other = { ...place, taskQueue: `${place.taskQueue}-other` };

    await scheduleNightlyRuns(other, { ...UTC, hour: 3 });

    expect(await describeNightlyRuns(other)).toMatchObject({ hour: 3 });
  });

  it('starts a night at once, and joins the one that runs instead of starting another', async () => {
    const place = ownPlace();
    await scheduleNightlyRuns(place, UTC);

    const first = await startNightlyRun(place);
    const second = await startNightlyRun(place);

    expect([first.joined, second.joined]).toEqual([false, true]);
    expect(second.handle.workflowId).toBe(first.handle.workflowId);
    expect(first.handle.workflowId).toContain(`${place.application}-nightly-issuance`);
    expect((await first.handle.describe()).type).toBe('nightlyIssuance');
    await first.handle.terminate('test');
  });

  it('starts a night without a schedule too, and does not join that of another installation', async () => {
    const place = ownPlace();
    const { handle, joined } = await startNightlyRun(place);
    const again = await startNightlyRun(place);

    expect([joined, again.joined]).toEqual([false, true]);
    expect(again.handle.workflowId).toBe(handle.workflowId);
    await expect(startNightlyRun({ ...place, taskQueue: `${place.taskQueue}-other` })).rejects.toMatchObject({
      code: 'ledger-foreign',
      message: expect.stringContaining(`runs on ${place.taskQueue}.`) as string,
    });
    await handle.terminate('test');
  });

  it('`lote nightly off` names what runs, and its runs find their schedule gone', async () => {
    const application = ownName('off');
    const place = ownPlace(application, application);
    await scheduleNightlyRuns(place, LISBON);
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

    await scheduleNightlyRuns(place, LISBON);
    expect(await runs.isSwitchedOff(id, scheduled.runId)).toBe(true);
  });
});
