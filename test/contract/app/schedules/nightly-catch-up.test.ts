import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { acquireTemporalBinary } from '../../../../src/app/temporal/temporal-binary.ts';
import { startTemporalServer, type TemporalServer } from '../../../../src/app/temporal/temporal-server.ts';
import {
  describeNightlyRuns,
  nightlySchedule,
  type NightlyPlace,
} from '../../../../src/app/schedules/nightly-schedule.ts';
import { sharedDirectory } from '../../../support/files/temporary-directory.ts';
import { ownPort } from '../../../support/servers/own-port.ts';

/** The shortest catch-up window that Temporal takes. */
const TEN_SECONDS = 10_000;
const TWELVE_HOURS = 12 * 3_600_000;
/** The server must be gone before the night's time comes: ten times as long as a busy machine takes for that. */
const UNTIL_NIGHT_MS = 30_000;

const dataDir = sharedDirectory();
let server: TemporalServer;

beforeAll(async () => {
  const binary = await acquireTemporalBinary(() => undefined, process.env);
  // While the server is down nobody else may be given its ports: those that the system chooses are given to outgoing connections, too.
  const ports = { port: await ownPort(), uiPort: await ownPort() };
  server = await startTemporalServer({ binary, dataDir: dataDir(), namespace: 'default', ...ports });
});

afterAll(() => server.stop());

async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

function placeOf(client: Client, application: string): NightlyPlace {
  return { client, application, taskQueue: 'nobody' };
}

/** The product's own schedule but for the second: nobody waits for 02:00 here. */
async function scheduleAt(client: Client, time: Date, night: { application: string; catchUpMs: number }) {
  const [hour, minute, second] = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()];
  const { application, catchUpMs } = night;
  const plan = nightlySchedule(placeOf(client, application), { hour, minute, timezone: 'UTC', catchUpMs });
  await client.schedule.create({ ...plan, spec: { calendars: [{ hour, minute, second }], timezone: 'UTC' } });
}

it('a night whose time passed while the server was down starts when it is back, within the catch-up window and not later', async () => {
  const night = new Date(Math.ceil((Date.now() + UNTIL_NIGHT_MS) / 1_000) * 1_000);
  await withClient(async (client) => {
    await scheduleAt(client, night, { application: 'patient', catchUpMs: TWELVE_HOURS });
    await scheduleAt(client, night, { application: 'impatient', catchUpMs: TEN_SECONDS });
    // A schedule that has not begun to count before the server ends has missed nothing.
    for (const application of ['patient', 'impatient']) {
      const next = async () => (await describeNightlyRuns(placeOf(client, application)))?.nextTimes[0];
      await expect.poll(next).toEqual(night);
    }
  });
  server.kill();
  const back = night.getTime() + TEN_SECONDS + 2_000;
  await expect.poll(() => Date.now(), { interval: 250 }).toBeGreaterThan(back);
  await server.ended();
  expect(await server.restart()).toBe(true);

  await withClient(async (client) => {
    await expect.poll(async () => (await describeNightlyRuns(placeOf(client, 'patient')))?.recent.length).toBe(1);

    const patient = await describeNightlyRuns(placeOf(client, 'patient'));
    expect(patient?.recent[0]?.scheduledAt).toEqual(night);
    expect(patient?.recent[0]?.takenAt.getTime()).toBeGreaterThan(back);
    expect(patient?.running).toHaveLength(1);
    const handle = client.schedule.getHandle('impatient-lote-nightly');
    await expect.poll(async () => (await handle.describe()).info.numActionsMissedCatchupWindow).toBe(1);
    expect((await describeNightlyRuns(placeOf(client, 'impatient')))?.recent).toEqual([]);
  });
}, 180_000);
