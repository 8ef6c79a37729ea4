import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { nightlyOff } from '../../../../src/cli/commands/nightly.ts';
import { acquireTemporalBinary } from '../../../../src/runtime/temporal/temporal-binary.ts';
import { startTemporalServer } from '../../../../src/runtime/temporal/temporal-server.ts';
import { endNightlyRuns } from '../../../../src/wiring/schedules/end-nights.ts';
import {
  describeNightlyRuns,
  nightlySchedule,
  scheduleNightlyRuns,
  triggerNightlyRun,
  unscheduleNightlyRuns,
  type NightlyPlace,
} from '../../../../src/wiring/schedules/nightly-schedule.ts';
import { workerIdentity } from '../../../../src/wiring/temporal/queue-pollers.ts';
import { ownName } from '../../../support/files/batch-file.ts';
import { newPlace } from '../../../support/lote/lote-command.ts';

const PLAN = { hour: 2, minute: 0, timezone: 'Europe/Lisbon', catchUpMs: 12 * 3_600_000 };
/** The server must be gone before the night's time comes: ten times as long as a busy machine takes for that. */
const UNTIL_NIGHT_MS = 20_000;

/** What the command prints as JSON. */
async function off(env: Readonly<Record<string, string>>): Promise<unknown> {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await nightlyOff({ json: true, env });
    return JSON.parse(String(output.mock.calls.at(-1)?.[0]));
  } finally {
    output.mockRestore();
  }
}

describe('`lote nightly off`', () => {
  let client: Client;

  beforeAll(async () => {
    client = new Client({ connection: await Connection.connect({ address: inject('temporalAddress') }) });
  });

  afterAll(() => client.connection.close());

  /** Nights that are on, with one that has started; its id, and the environment of a command for them. */
  async function startedNight(): Promise<{ place: NightlyPlace; id: string; env: Readonly<Record<string, string>> }> {
    const application = ownName('off');
    const place = { client, application, taskQueue: application };
    onTestFinished(async () => void (await unscheduleNightlyRuns(place)));
    await scheduleNightlyRuns(place, PLAN);
    await triggerNightlyRun(place);
    const started = async () => (await describeNightlyRuns(place))?.recent.at(-1)?.workflowId;
    await expect.poll(started).toBeDefined();
    const id = (await started()) ?? '';
    onTestFinished(
      async () =>
        void (await client.workflow
          .getHandle(id)
          .terminate()
          .catch(() => undefined)),
    );
    const env = { TEMPORAL_ADDRESS: inject('temporalAddress'), LOTE_APPLICATION: application };
    return { place, id, env: { ...env, LOTE_TASK_QUEUE: application } };
  }

  /** As a worker: gets the first task of the night, and answers it or not. */
  async function takeUp(place: NightlyPlace, isAnswered: boolean): Promise<void> {
    const scope = { namespace: 'default', identity: workerIdentity(`ledger-1/${place.application}`, 42, 'aa', null) };
    await client.connection.withDeadline(Date.now() + 10_000, async () => {
      const { taskToken } = await client.workflowService.pollWorkflowTaskQueue({
        ...scope,
        taskQueue: { name: place.taskQueue },
      });
      if (isAnswered) await client.workflowService.respondWorkflowTaskCompleted({ ...scope, taskToken, commands: [] });
    });
  }

  it('ends a night that no worker has begun, which would issue what is dropped later on', async () => {
    const { place, id, env } = await startedNight();

    expect(await off(env)).toEqual({ nights: null, was: true, ended: [id], interrupted: [], running: [] });

    expect(await describeNightlyRuns(place)).toBeNull();
    expect((await client.workflow.getHandle(id).describe()).status.name).toBe('TERMINATED');
    expect(await off(env)).toEqual({ nights: null, was: false, ended: [], interrupted: [], running: [] });
  });

  it('names a night that a worker has begun, which goes on to its end', async () => {
    const { place, id, env } = await startedNight();
    await takeUp(place, false);

    expect(await off(env)).toEqual({ nights: null, was: true, ended: [], interrupted: [], running: [id] });

    expect((await client.workflow.getHandle(id).describe()).status.name).toBe('RUNNING');
  });

  it.each([
    ['has done the first step of', true, { ended: 0, interrupted: 1 }],
    ['has got, and not answered, the first step of', false, { ended: 1, interrupted: 0 }],
  ])('says what is so of a night that a worker %s while it is ended', async (_, isAnswered, expected) => {
    const { place, id } = await startedNight();
    const racing = new Client({
      connection: client.connection,
      interceptors: {
        workflow: [
          {
            async terminate(input, next) {
              await takeUp(place, isAnswered);
              return next(input);
            },
          },
        ],
      },
    });

    const { ended, interrupted, running } = await endNightlyRuns({ ...place, client: racing });

    expect({ ended: ended.length, interrupted: interrupted.length }).toEqual(expected);
    expect([...ended, ...interrupted]).toEqual([id]);
    expect(running).toEqual([]);
    expect((await client.workflow.getHandle(id).describe()).status.name).toBe('TERMINATED');
  });

  it('does not start the night that was missed, although it starts the server that catches up with it', async () => {
    const { env, dataDir, remove } = await newPlace();
    onTestFinished(remove);
    await mkdir(join(dataDir), { recursive: true });
    const binary = await acquireTemporalBinary(() => undefined, process.env);
    let night = new Date();
    await onServer(async (own) => {
      // Counted from here: on a busy machine the server alone takes many seconds to start.
      night = new Date(Math.ceil((Date.now() + UNTIL_NIGHT_MS) / 1_000) * 1_000);
      const [hour, minute, second] = [night.getUTCHours(), night.getUTCMinutes(), night.getUTCSeconds()];
      const place = { client: own, application: 'default', taskQueue: 'lote' };
      const plan = nightlySchedule(place, { ...PLAN, hour, minute, timezone: 'UTC' });
      await own.schedule.create({ ...plan, spec: { calendars: [{ hour, minute, second }], timezone: 'UTC' } });
      // A schedule that has not begun to count before the server ends has missed nothing.
      const next = async () => (await describeNightlyRuns(place))?.nextTimes[0];
      await expect.poll(next).toEqual(night);
    });
    await expect.poll(() => Date.now(), { interval: 250 }).toBeGreaterThan(night.getTime() + 1_000);

    const said = await off(env);

    await onServer(async (own) => {
      expect(await describeNightlyRuns({ client: own, application: 'default', taskQueue: 'lote' })).toBeNull();
      const left: string[] = [];
      const query = 'WorkflowType = "nightlyIssuance"';
      for await (const { workflowId, status } of own.workflow.list({ query }))
        left.push(`${workflowId} ${status.name}`);
      const ended = (said as { readonly ended: readonly string[] }).ended;
      expect(left).toEqual(ended.map((id) => `${id} TERMINATED`));
    });

    async function onServer(use: (own: Client) => Promise<void>): Promise<void> {
      const server = await startTemporalServer({ binary, dataDir, namespace: 'default' });
      const connection = await Connection.connect({ address: server.address });
      try {
        await use(new Client({ connection }));
      } finally {
        await connection.close();
        await server.stop();
      }
    }
  }, 180_000);
});
