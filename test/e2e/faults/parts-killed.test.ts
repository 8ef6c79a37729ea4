import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { leftBooks } from '../../support/crash/left-books.ts';
import { newPlace, type Place, type RunningCommand } from '../../support/lote/lote-command.ts';
import { ownPort } from '../../support/servers/own-port.ts';
import { postgresDatabase } from '../../support/servers/postgres-database.ts';
import { processes, type Processes } from '../../support/lote/processes.ts';
import { SANDBOX_KEY } from '../../support/servers/sandbox-books.ts';

const INVOICES = 200;
const POLL_INTERVAL_MS = 50;
/** So that each part is killed while invoices are being sent. */
const SLOW = { limits: { requestsPerSecond: 40 } };
const server = inject('postgresUrl');

/** Waits for progress, not for time: a slow machine must not be disturbed before it has begun. */
async function until(by: RunningCommand, reached: () => Promise<boolean> | boolean): Promise<void> {
  const ended = by.end.then(() => true);
  while (!(await reached())) {
    if (await Promise.race([ended, sleep(POLL_INTERVAL_MS).then(() => false)])) break;
  }
}

function countsOf(stdout: string): unknown {
  return (JSON.parse(stdout) as { batches: { counts: unknown }[] }).batches[0]?.counts;
}

/** The embedded Temporal server of one process: crash-points.test.ts. */
describe('one part killed alone during a run', { timeout: 400_000 }, () => {
  let place: Place;
  let sandboxPlace: Place;
  let all: Processes;

  beforeEach(async () => {
    place = await newPlace();
    sandboxPlace = await newPlace();
    all = processes();
  });

  afterEach(async () => {
    await all.killAll();
    await place.remove();
    await sandboxPlace.remove();
  });

  it.skipIf(server === null)(
    'the receiver, the sandbox and the only worker, one after the other: each is started again, and the run goes on',
    async () => {
      const database = await postgresDatabase(server ?? '');
      try {
        const file = join(place.inputDir, 'parts.csv');
        await writeInvoiceFile(file, { invoices: INVOICES });
        const profile = join(place.directory, 'profile.json');
        await writeFile(profile, JSON.stringify(SLOW));
        const [sandboxPort, receiverPort] = [await ownPort(), await ownPort()];
        const client = {
          ...place.env,
          DATABASE_URL: database.url,
          TEMPORAL_ADDRESS: inject('temporalAddress'),
          LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
        };
        const env = {
          ...client,
          INVOICING_BASE_URL: `http://127.0.0.1:${sandboxPort}`,
          INVOICING_API_KEY: SANDBOX_KEY,
          SERVICE_PROFILE: profile,
          WEBHOOK_URL: `http://127.0.0.1:${receiverPort}/webhooks`,
          RECEIVER_PORT: String(receiverPort),
          LOTE_PAGE_SIZE: '20',
          LOTE_SETTLE_TIMEOUT: '60s',
        };
        const parts = {
          sandbox: () => all.start(['sandbox'], { ...sandboxPlace.env, SANDBOX_PORT: String(sandboxPort) }),
          receiver: () => all.start(['receiver'], env),
          worker: () => all.start(['worker'], env),
        };
        const said = { sandbox: 'Sandbox http', receiver: 'Receiver http', worker: 'Worker on task queue' };
        const running = { sandbox: parts.sandbox(), receiver: parts.receiver(), worker: parts.worker() };
        for (const name of ['sandbox', 'receiver', 'worker'] as const) await running[name].said(said[name]);
        const run = all.start(['run', file, '--json'], client);

        for (const [index, name] of (['receiver', 'sandbox', 'worker'] as const).entries()) {
          await until(run, async () => (await left(database)) < INVOICES * (1 - (index + 1) / 5));
          running[name].signal('SIGKILL');
          await running[name].end;
          running[name] = parts[name]();
          await running[name].said(said[name]);
        }
        const { code, stdout, stderr } = await run.end;

        expect(code, stderr).toBe(0);
        expect(countsOf(stdout)).toMatchObject({ invoices: INVOICES, issued: INVOICES });
        running.sandbox.signal('SIGTERM');
        await running.sandbox.end;
        const books = await leftBooks(sandboxPlace.dataDir);
        expect(books.duplicates).toEqual([]);
        expect(books.totals).toMatchObject({ invoices: INVOICES, issued: INVOICES });
      } finally {
        await all.killAll();
        await database.drop();
      }
    },
  );
});

/** Invoices that are not sent yet; all of them before there is a batch. */
async function left(database: { rows<Row extends object>(text: string): Promise<readonly Row[]> }): Promise<number> {
  const [row] = await database.rows<{ all: string; unsent: string }>(
    `SELECT count(*) AS all, count(*) FILTER (WHERE state = 'staged') AS unsent FROM invoice`,
  );
  return Number(row?.all ?? 0) === 0 ? INVOICES : Number(row?.unsent);
}
