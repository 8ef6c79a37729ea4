import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { activityQueue } from '../../../../src/contract/activity-queue.ts';
import { nightlyOn } from '../../../../src/cli/commands/nightly.ts';
import { readConfig, type Config } from '../../../../src/runtime/config/config.ts';
import { ensureSchedules } from '../../../../src/wiring/schedules/ensure-schedules.ts';
import { checkSchedules, checkWithoutFile } from '../../../../src/wiring/doctor/check-schedules.ts';
import {
  nightlySchedule,
  nightlyScheduleId,
  scheduleNightlyRuns,
  unscheduleNightlyRuns,
} from '../../../../src/wiring/schedules/nightly-schedule.ts';
import { deregisterWorker, workerIdentity, workerScope } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { reconciliationId } from '../../../../src/wiring/schedules/reconciliation-schedule.ts';
import {
  pauseSchedulesWithoutFile,
  schedulesWithoutFile,
} from '../../../../src/wiring/schedules/application-without-file.ts';
import { NO_FILE } from '../../../../src/wiring/schedules/schedule-note.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { until } from '../../../support/until.ts';

const PLAN = { hour: 2, minute: 0, timezone: 'Europe/Lisbon', catchUpMs: 3_600_000 };

describe('the schedules of an installation', () => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
  });
  afterAll(() => client.connection.close());

  /** What was logged. */
  async function ensure(...configs: readonly Config[]): Promise<readonly unknown[]> {
    const warnings: unknown[] = [];
    await ensureSchedules(configs, client, { warn: (message, fields) => void warnings.push({ message, ...fields }) });
    return warnings;
  }

  async function withApplication(test: (alone: Config, ofSeveral: Config) => Promise<void>): Promise<void> {
    const application = ownName('s');
    const alone = { ...readConfig({}), application, taskQueue: `lote-${application}` };
    try {
      await test(alone, { ...alone, isOneOfSeveral: true });
    } finally {
      await unscheduleNightlyRuns({ ...alone, client });
      const reconciliation = client.schedule.getHandle(reconciliationId(alone));
      await reconciliation.delete().catch(() => undefined);
    }
  }

  async function inputs(config: Config): Promise<unknown> {
    const [night, reconciliation] = await Promise.all(
      [nightlyScheduleId(config.application), reconciliationId(config)].map(
        async (id): Promise<unknown> => (await client.schedule.getHandle(id).describe()).action.args?.[0],
      ),
    );
    return { night, reconciliation };
  }

  it('name the application from the day on which it is one of several, also of nights that no file asks for', async () => {
    await withApplication(async (alone, ofSeveral) => {
      await scheduleNightlyRuns({ ...alone, client }, PLAN);
      await client.schedule.getHandle(nightlyScheduleId(alone.application)).pause('somebody looks at it');
      await ensure(alone);
      expect(await inputs(alone)).toEqual({ night: { timezone: PLAN.timezone }, reconciliation: {} });

      expect(await ensure(ofSeveral)).toEqual([]);

      const { application } = alone;
      expect(await inputs(alone)).toEqual({
        night: { timezone: PLAN.timezone, application },
        reconciliation: { application },
      });
      const { state, spec } = await client.schedule.getHandle(nightlyScheduleId(application)).describe();
      expect(state).toMatchObject({ paused: true, note: 'somebody looks at it' });
      expect(spec.timezone).toBe(PLAN.timezone);
    });
  });

  it('name none from the day on which it is alone again', async () => {
    await withApplication(async (alone, ofSeveral) => {
      await ensure({ ...ofSeveral, schedule: PLAN });
      const { application } = alone;
      expect(await inputs(alone)).toMatchObject({ night: { application }, reconciliation: { application } });

      expect(await ensure(alone)).toEqual([]);

      expect(await inputs(alone)).toEqual({ night: { timezone: PLAN.timezone }, reconciliation: {} });
    });
  });

  it('are paused when no file describes their application, say why, and go on when it is back', async () => {
    await withApplication(async (_, gone) => {
      await withApplication(async (_alone, neighbour) => {
        const { taskQueue } = gone;
        const staying = { ...gone, application: ownName('stays') };
        await ensure({ ...gone, schedule: PLAN });
        await ensure({ ...neighbour, schedule: PLAN });
        const ids = [nightlyScheduleId(gone.application), reconciliationId(gone)];
        const states = () => Promise.all(ids.map(async (id) => (await client.schedule.getHandle(id).describe()).state));

        const { found } = await pauseSchedulesWithoutFile(client, [staying]);

        expect(found.map(({ scheduleId }) => scheduleId).toSorted()).toEqual(ids.toSorted());
        for (const { paused, note } of await states()) {
          expect(paused).toBe(true);
          expect(note).toContain(
            `no file in applications/ describes the application that it is for (${gone.application})`,
          );
        }
        const { state } = await client.schedule.getHandle(nightlyScheduleId(neighbour.application)).describe();
        expect(state.paused, `of another queue than ${taskQueue}`).toBe(false);

        await ensure({ ...gone, schedule: PLAN });

        expect((await states()).map(({ paused }) => paused)).toEqual([false, false]);
        expect((await schedulesWithoutFile(client, [gone])).found).toEqual([]);
      });
    });
  });

  it('go on without a file here while a worker elsewhere polls for it, and are paused when that worker has left', async () => {
    await withApplication(async (_, elsewhere) => {
      await ensure({ ...elsewhere, schedule: PLAN });
      const { application, taskQueue } = elsewhere;
      const here = [{ ...elsewhere, application: ownName('stays') }];
      const identity = workerIdentity(workerScope('ledger-1', elsewhere), 42, 'aa', null);
      await client.connection.withDeadline(Date.now() + 2_500, () =>
        client.workflowService.pollActivityTaskQueue({
          ...{ namespace: 'default', taskQueue: { name: activityQueue(taskQueue, application), kind: 1 }, identity },
        }),
      );
      const paused = async () => {
        const { found: all } = await pauseSchedulesWithoutFile(client, here);
        const states = all.map(
          async ({ scheduleId }) => (await client.schedule.getHandle(scheduleId).describe()).state,
        );
        return (await Promise.all(states)).map((state) => state.paused);
      };
      expect(await paused()).toEqual([false, false]);

      await deregisterWorker(client, taskQueue, identity);

      expect(await paused()).toEqual([true, true]);
    });
  });

  it('of another task queue are known by id and note, and only what somebody wrote to is asked for', async () => {
    await withApplication(async (_, gone) => {
      await withApplication(async (_alone, neighbour) => {
        await ensure(gone, neighbour);
        const here = [{ ...gone, application: ownName('stays') }];
        const [theirs, ofOwnQueue] = [reconciliationId(neighbour), reconciliationId(gone)];
        const asked = async () => {
          const ids: string[] = [];
          const { found } = await schedulesWithoutFile(noting(ids), here);
          return { ids: ids.filter((id) => [theirs, ofOwnQueue].includes(id)), found };
        };

        expect(await asked()).toMatchObject({ ids: [ofOwnQueue], found: [{ scheduleId: ofOwnQueue }] });

        await client.schedule.getHandle(theirs).pause('somebody looks at it');
        await until(async () => (await asked()).ids.includes(theirs));
        expect((await asked()).found.map(({ scheduleId }) => scheduleId)).toEqual([ofOwnQueue]);
      });
    });
  });

  /** The same server, and which schedules it is asked to describe. */
  function noting(ids: string[]): Client {
    const { schedule } = client;
    const getHandle = (id: string) => ({
      describe: () => {
        ids.push(id);
        return schedule.getHandle(id).describe();
      },
    });
    return Object.assign(Object.create(client) as Client, { schedule: { list: () => schedule.list(), getHandle } });
  }

  it('are looked through although the server does not describe each; three such are an error', async () => {
    await withApplication(async (_, gone) => {
      await ensure({ ...gone, schedule: PLAN });
      const [night, reconciliation] = [nightlyScheduleId(gone.application), reconciliationId(gone)];
      const here = [{ ...gone, application: ownName('stays') }];

      const { found, unseen } = await schedulesWithoutFile(
        withoutAnswerOf((id) => id === night),
        here,
      );

      expect(found.map(({ scheduleId }) => scheduleId)).toEqual([reconciliation]);
      expect(unseen).toEqual([night]);
      await withApplication(async (_also, second) => {
        await ensure({ ...second, schedule: PLAN });
        await expect(
          schedulesWithoutFile(
            withoutAnswerOf(() => true),
            here,
          ),
        ).rejects.toThrow('no answer');
      });
    });
  });

  /** The same server, which does not describe some schedules. */
  function withoutAnswerOf(isSilent: (scheduleId: string) => boolean): Client {
    const { schedule } = client;
    const getHandle = (id: string) =>
      isSilent(id) ? { describe: () => Promise.reject(new Error('no answer')) } : schedule.getHandle(id);
    return Object.assign(Object.create(client) as Client, { schedule: { list: () => schedule.list(), getHandle } });
  }

  it('that wait for a file go on, both, when an operator switches the nights on', async () => {
    await withApplication(async (alone) => {
      await ensure({ ...alone, schedule: PLAN });
      await pauseSchedulesWithoutFile(client, [{ ...alone, application: ownName('stays'), isOneOfSeveral: true }]);
      const { application, taskQueue } = alone;
      const env = { LOTE_APPLICATION: application, LOTE_TASK_QUEUE: taskQueue };
      const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
      onTestFinished(() => output.mockRestore());

      await nightlyOn({ json: true, env: { ...env, TEMPORAL_ADDRESS: inject('temporalAddress') } });

      for (const id of [nightlyScheduleId(application), reconciliationId(alone)])
        expect((await client.schedule.getHandle(id).describe()).state.paused, id).toBe(false);
    });
  });

  it('of the only application are paused when it gets another name, and go on when it has its own again', async () => {
    await withApplication(async (before) => {
      const after = { ...before, application: ownName('renamed') };
      const own = `own-${before.application}`;
      const ids = [nightlyScheduleId(before.application), reconciliationId(before)];
      const states = () => Promise.all(ids.map(async (id) => (await client.schedule.getHandle(id).describe()).state));
      await scheduleNightlyRuns({ ...before, client }, PLAN);
      await ensure(before);
      await client.schedule.create({
        ...nightlySchedule({ ...before, application: own }, PLAN),
        scheduleId: own,
      });
      onTestFinished(() => client.schedule.getHandle(own).delete());
      onTestFinished(() => client.schedule.getHandle(reconciliationId(after)).delete());
      await ensure(after);

      const { found } = await pauseSchedulesWithoutFile(client, [after]);

      expect(found.map(({ scheduleId }) => scheduleId).toSorted(), 'not what a person made').toEqual(ids.toSorted());
      for (const { paused, note } of await states()) {
        expect(paused).toBe(true);
        expect(note).toContain(`works for another application now (${after.application}, LOTE_APPLICATION)`);
      }
      const checks = await checkWithoutFile(client, { applications: [after], open: Promise.resolve([]) });
      expect(checks.find(({ name }) => name === 'applications without a file')).toMatchObject({
        state: 'trouble',
        detail: expect.stringContaining(`${ids[0]} (paused)`) as string,
      });

      await ensure(before);

      expect((await states()).map(({ paused }) => paused)).toEqual([false, false]);
    });
  });

  it('on another task queue stay as they are, and the doctor says that their nights do not run here', async () => {
    await withApplication(async (moved, other) => {
      await scheduleNightlyRuns({ ...other, client }, PLAN);
      const night = client.schedule.getHandle(nightlyScheduleId(other.application));
      await night.pause(`${NO_FILE}.`);
      const here = { ...moved, taskQueue: `${moved.taskQueue}-now` };
      onTestFinished(() => client.schedule.getHandle(reconciliationId(here)).delete());

      expect(await ensure(here)).toEqual([]);

      const { action, state } = await night.describe();
      expect(action.args).toEqual([{ timezone: PLAN.timezone, application: other.application }]);
      expect(state.paused).toBe(true);
      const checks = await checkSchedules(client, { applications: [here] });
      expect(checks.find(({ name }) => name === 'nights')).toMatchObject({
        state: 'trouble',
        detail: `They start on task queue ${moved.taskQueue}, and this Lote works on ${here.taskQueue}: nothing that is dropped here goes out at night.`,
        cure: expect.stringContaining('lote nightly on') as string,
      });

      await scheduleNightlyRuns({ ...here, client }, PLAN);

      const after = await checkSchedules(client, { applications: [here] });
      expect(after.find(({ name }) => name === 'nights')).toMatchObject({ state: 'ok' });
      await unscheduleNightlyRuns({ ...here, client });
    });
  });

  it('that somebody has paused stay so when their file is back', async () => {
    await withApplication(async (_, gone) => {
      await ensure({ ...gone, schedule: PLAN });
      const night = client.schedule.getHandle(nightlyScheduleId(gone.application));
      await night.pause('somebody looks at it');
      await pauseSchedulesWithoutFile(client, [{ ...gone, application: ownName('stays') }]);

      await ensure({ ...gone, schedule: PLAN });

      expect((await night.describe()).state).toMatchObject({ paused: true, note: 'somebody looks at it' });
    });
  });

  it('are made for the others where Temporal refuses those of one, and the log names it', async () => {
    await withApplication(async (_, refused) => {
      await withApplication(async (_alone, other) => {
        const warnings = await ensure(
          { ...refused, schedule: { ...PLAN, timezone: 'Europe/Nowhere' } },
          { ...other, schedule: PLAN },
        );

        expect(warnings).toEqual([expect.objectContaining({ application: refused.application })]);
        expect(await inputs(other)).toMatchObject({ night: { application: other.application } });
      });
    });
  });
});
