import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { ownName } from '../support/files/batch-file.ts';
import { writeInvoiceFile } from '../support/files/invoice-file.ts';
import { newPlace, type Place } from '../support/lote/lote-command.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../support/servers/postgres-database.ts';
import { processes, type Processes } from '../support/lote/processes.ts';
import { independentSandbox, SANDBOX_KEY } from '../support/servers/sandbox-books.ts';
import { startServiceFront, type ServiceFront } from '../support/servers/service-front.ts';
import { withFleet } from '../support/lote/worker-fleet.ts';
import { until } from '../support/until.ts';

/** Each has slices of its own at either worker: of one file alone, one worker may be given all slices. */
const FILES = 4;
const INVOICES_EACH = 60;
const INVOICES = FILES * INVOICES_EACH;
/** Until both workers have a share: a batch whose last request has gone before that has nothing to share. */
const SLOW_UNTIL_SHARED_MS = 1_500;
const RATE = 25;
const CONCURRENCY = 6;
const POLL_INTERVAL_MS = 50;
/** What a busy machine may hold back in one place and let go in the next: a second's worth. */
const HELD_BACK = RATE;

interface Slots {
  readonly holders: string;
  readonly slots: string;
}

describe.skipIf(inject('postgresUrl') === null)('two workers of one ledger', { timeout: 240_000 }, () => {
  let place: Place;
  let database: PostgresDatabase;
  let sandbox: Sandbox;
  let front: ServiceFront;
  let all: Processes;

  beforeEach(async () => {
    place = await newPlace();
    database = await postgresDatabase(inject('postgresUrl') ?? '');
    sandbox = await independentSandbox({ settleMs: 20, latencyMs: 100 });
    front = await startServiceFront(sandbox.url);
    all = processes();
  });

  afterEach(async () => {
    await all.killAll();
    await database.drop();
    await front.close();
    await sandbox.close();
    await place.remove();
  });

  it('keep to one rate and one number of requests at a time, all of it shared between them', async () => {
    await mkdir(place.inputDir, { recursive: true });
    const profile = join(place.directory, 'profile.json');
    await writeFile(profile, JSON.stringify({ limits: { requestsPerSecond: RATE, maxConcurrency: CONCURRENCY } }));
    const files = Array.from({ length: FILES }, (_, at) => join(place.inputDir, `paced-${at}.csv`));
    for (const [at, file] of files.entries())
      await writeInvoiceFile(file, { invoices: INVOICES_EACH, series: `S${at}` });
    const port = await ownPort();
    const client = {
      ...place.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
    };
    const env = {
      ...client,
      INVOICING_BASE_URL: front.url,
      INVOICING_API_KEY: SANDBOX_KEY,
      SERVICE_PROFILE: profile,
      RECEIVER_PORT: String(port),
      WEBHOOK_URL: `http://127.0.0.1:${port}/webhooks`,
      // Pages small enough that both have some to send.
      LOTE_PAGE_SIZE: '20',
    };
    const parts = [all.start(['worker'], env), all.start(['worker'], env), all.start(['receiver'], env)];
    await Promise.all([
      parts[0]?.said('Worker on task queue'),
      parts[1]?.said('Worker on task queue'),
      parts[2]?.said('Receiver http'),
    ]);
    let isShared = false;
    front.script = async ({ method, path }) => {
      if (method === 'POST' && path === '/v1/invoices' && !isShared) await sleep(SLOW_UNTIL_SHARED_MS);
      return 'pass' as const;
    };
    const run = all.start(['run', ...files, '--json'], client);
    let ended = false;
    void run.end.then(() => (ended = true));
    const looks: Slots[] = [];
    while (!ended) {
      const now = await slotsNow();
      isShared ||= now.some(({ holders, slots }) => Number(holders) === 2 && Number(slots) === CONCURRENCY);
      looks.push(...now);
      await sleep(POLL_INTERVAL_MS);
    }

    const { code, stderr } = await run.end;

    expect(code, stderr).toBe(0);
    expect(sandbox.books().totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
    expect(sandbox.books().duplicates).toEqual([]);
    expectRate(front.requests.map(({ at }) => at));
    expect(front.mostAtOnce).toBeLessThanOrEqual(CONCURRENCY);
    expect(Math.max(...looks.map(({ slots }) => Number(slots))), 'slots handed out at one moment').toBe(CONCURRENCY);
    expect(isShared, 'both workers had a share of all of them').toBe(true);
  });

  function slotsNow(): Promise<readonly Slots[]> {
    return database.rows<Slots>(
      'SELECT count(*) FILTER (WHERE slots > 0) AS holders, coalesce(sum(slots), 0) AS slots FROM request_slots',
    );
  }

  /** Of all stretches, however long: never more than the rate allows, but for what was held back before it. */
  function expectRate(times: readonly number[]): void {
    for (const [first, from] of times.entries()) {
      for (let last = first; last < times.length; last += 1) {
        const seconds = ((times[last] ?? from) - from) / 1_000;
        const requests = last - first + 1;
        if (requests > RATE * seconds + 1 + HELD_BACK)
          expect.fail(`${requests} requests in ${seconds} s, at ${RATE} a second`);
      }
    }
  }
});

/** Longer than it takes to share the slots anew: requests are on the wire while another process gets its share. */
const SLOW_MS = 3_000;
/** Three minutes' worth of a service that slow: a machine that is busy and slow starts a worker in that time. */
const SLOW_INVOICES = 360;
/** So few that a worker that joins soon has pages of its own. */
const SMALL_PAGE = '6';
/** Slow requests that both have made together; then the service takes the rest at once. */
const SHARED_REQUESTS = 4 * CONCURRENCY;

describe.skipIf(inject('postgresUrl') === null)('a worker that joins another one', { timeout: 240_000 }, () => {
  it('gets the slots that are free, and not those that requests on the wire still take', async () => {
    const limited = { profile: { limits: { maxConcurrency: CONCURRENCY } }, env: { LOTE_PAGE_SIZE: SMALL_PAGE } };
    await withFleet({ workers: 1, ...limited }, async ({ front, database, startFile, startWorker }) => {
      const requests = { now: 0, mostAtOnce: 0, ended: 0 };
      let isSlow = true;
      front.script = async ({ method, path }) => {
        if (method !== 'POST' || path !== '/v1/invoices') return 'pass' as const;
        requests.now += 1;
        requests.mostAtOnce = Math.max(requests.mostAtOnce, requests.now);
        if (isSlow) await sleep(SLOW_MS);
        requests.now -= 1;
        requests.ended += 1;
        return 'pass' as const;
      };
      const batch = await startFile(`${ownName('slow')}.csv`, SLOW_INVOICES);
      await until(() => requests.now === CONCURRENCY);

      startWorker();
      await until(async () => (await database.rows('SELECT FROM request_slots WHERE slots > 0 OFFSET 1')).length > 0);
      const before = requests.ended;
      await until(() => requests.ended >= before + SHARED_REQUESTS);
      isSlow = false;

      expect((await batch.result()).counts).toMatchObject({ issued: SLOW_INVOICES });
      expect(requests.mostAtOnce).toBe(CONCURRENCY);
    });
  });
});
