import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { writeInvoiceFile } from '../support/files/invoice-file.ts';
import { leftBooks } from '../support/crash/left-books.ts';
import { pageHeaders } from '../support/browser/page-headers.ts';
import { newPlace, runLote, type Place, type RunningCommand } from '../support/lote/lote-command.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../support/servers/postgres-database.ts';
import { processes } from '../support/lote/processes.ts';
import { SANDBOX_KEY } from '../support/servers/sandbox-books.ts';

const INVOICES = 200;
/** So that each part is killed while invoices are being sent. */
const SLOW = { limits: { requestsPerSecond: 40 } };
const POLL_INTERVAL_MS = 50;
const server = inject('postgresUrl');

interface Batch {
  readonly id: string;
  readonly state: string;
  readonly counts: Readonly<Record<string, number>>;
}

function documentOf<T>(stdout: string): T {
  return JSON.parse(stdout) as T;
}

/** The topology of docker-compose.yml, as processes: what is shared is a database, a Temporal server and the input folder. */
describe.skipIf(server === null)('the distributed form', { timeout: 300_000 }, () => {
  const all = processes();
  let place: Place;
  let sandboxPlace: Place;
  let database: PostgresDatabase;
  let strangers: PostgresDatabase;
  let env: Record<string, string>;
  let client: Record<string, string>;
  let sandbox: RunningCommand;
  let receiver: RunningCommand;
  let startSandbox: () => RunningCommand;
  const workers: RunningCommand[] = [];
  let consoleUrl: string;

  beforeAll(async () => {
    place = await newPlace();
    sandboxPlace = await newPlace();
    database = await postgresDatabase(server ?? '');
    strangers = await postgresDatabase(server ?? '');
    const [sandboxPort, receiverPort, consolePort] = [await ownPort(), await ownPort(), await ownPort()];
    consoleUrl = `http://127.0.0.1:${consolePort}`;
    const profile = join(place.directory, 'profile.json');
    await writeFile(profile, JSON.stringify(SLOW));
    client = {
      ...place.env,
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      LOTE_TASK_QUEUE: `lote-${randomBytes(4).toString('hex')}`,
    };
    env = {
      ...client,
      INVOICING_BASE_URL: `http://127.0.0.1:${sandboxPort}`,
      INVOICING_API_KEY: SANDBOX_KEY,
      SERVICE_PROFILE: profile,
      WEBHOOK_URL: `http://127.0.0.1:${receiverPort}/webhooks`,
      RECEIVER_PORT: String(receiverPort),
      CONSOLE_PORT: String(consolePort),
      LOTE_PAGE_SIZE: '20',
      LOTE_SETTLE_TIMEOUT: '60s',
    };
    startSandbox = () => all.start(['sandbox'], { ...sandboxPlace.env, SANDBOX_PORT: String(sandboxPort) });
    sandbox = startSandbox();
    receiver = all.start(['receiver'], env);
    const { INVOICING_API_KEY: _, ...withoutKey } = env;
    const web = all.start(['console'], withoutKey);
    workers.push(all.start(['worker'], env), all.start(['worker'], env));
    await Promise.all([
      sandbox.said('Sandbox http'),
      receiver.said('Receiver http'),
      web.said('Console http'),
      ...workers.map((worker) => worker.said('Worker on task queue')),
    ]);
  });

  afterAll(async () => {
    await all.killAll();
    await Promise.all([database.drop(), strangers.drop()]);
    await Promise.all([place.remove(), sandboxPlace.remove()]);
  });

  it('finishes a batch when its receiver, the service and one of two workers are killed, and keeps workers of another ledger out', async () => {
    const file = join(place.inputDir, 'shared.csv');
    await writeInvoiceFile(file, { invoices: INVOICES });
    const stranger = all.start(['worker'], { ...env, DATABASE_URL: strangers.url });
    const run = all.start(['run', file, '--json'], client);
    await untilSent(INVOICES / 5, run);
    await kill(receiver);
    receiver = all.start(['receiver'], env);
    await untilSent((INVOICES * 2) / 5, run);
    await kill(sandbox);
    sandbox = startSandbox();
    await untilSent((INVOICES * 3) / 5, run);
    await kill(workers[0] as RunningCommand);

    const { code, stdout, stderr } = await run.end;

    expect(code, stderr).toBe(0);
    const [batch] = documentOf<{ batches: Batch[] }>(stdout).batches;
    expect(batch).toMatchObject({ state: 'finished', counts: { invoices: INVOICES, issued: INVOICES } });
    const refused = await stranger.end;
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('all its workers must keep one ledger');
    await expectSameFromElsewhere(batch?.id ?? '');
  });

  /** By progress, not by time: a slow machine must not kill anything before it has begun. */
  async function untilSent(invoices: number, run: RunningCommand): Promise<void> {
    const ended = run.end.then(() => true);
    while ((await sent(database)) < invoices) {
      if (await Promise.race([ended, sleep(POLL_INTERVAL_MS).then(() => false)])) break;
    }
  }

  async function kill(part: RunningCommand): Promise<void> {
    part.signal('SIGKILL');
    await part.end;
  }

  /** What the run said, said by the console and by `lote report` of other processes. */
  async function expectSameFromElsewhere(id: string): Promise<void> {
    const shown = (await (await fetch(`${consoleUrl}/api/batches/${id}`)).json()) as { counts: object };
    const report = await runLote(['report', id, '--follow', '--json'], client);
    expect(shown.counts).toMatchObject({ issued: INVOICES });
    expect(report.code, report.stderr).toBe(0);
    expect(documentOf<{ batch: object }>(report.stdout).batch).toMatchObject({
      id,
      state: 'finished',
      counts: { issued: INVOICES, invoices: INVOICES },
      reports: { json: join(place.reportsDir, id, 'report.json') },
    });
  }

  it('has a sandbox that takes any test key, and no other', async () => {
    const statusOf = async (key: string): Promise<number> => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(`${env['INVOICING_BASE_URL']}/v1/merchants`, { headers })).status;
    };

    expect(await statusOf('sk_test_anybody-1')).toBe(200);
    expect(await statusOf('sk_live_1')).toBe(401);
  });

  it('does in a console of its own what that of one process does: check, start, health, profile', async () => {
    const origin = await pageHeaders(consoleUrl, (path) => fetch(consoleUrl + path));
    const form = new FormData();
    const file = join(place.directory, 'browser.csv');
    await writeInvoiceFile(file, { invoices: 20 });
    form.append('file', new Blob([await readFile(file)]), 'browser.csv');
    const uploaded = await fetch(`${consoleUrl}/files`, { method: 'POST', body: form, headers: origin });
    expect(await uploaded.text()).toContain('No errors: all 20 invoices can be sent.');
    const kept = new URL(uploaded.url).searchParams.get('file') ?? '';

    const body = new URLSearchParams({ file: kept });
    const started = await fetch(`${consoleUrl}/start`, { method: 'POST', body, headers: origin, redirect: 'manual' });

    const id = /^\/batches\/([^?]+)/u.exec(started.headers.get('location') ?? '')?.[1] ?? 'none';
    // The same invoices as in the file before, from another file: known, and not sent again.
    expect((await untilReported(id)).counts).toMatchObject({ 'already-issued': 20 });
    const health = await (await fetch(`${consoleUrl}/health`)).text();
    for (const part of ['temporal', 'worker', 'service', 'clock'])
      expect(health).toContain(`<th scope="row">${part}</th>`);
    expect(health).toContain(env['INVOICING_BASE_URL']);
    expect(await (await fetch(`${consoleUrl}/profile`)).text()).toContain('X-Service-Signature');
  });

  /** By the console's own word; the batch is not known before a worker has read its file. */
  async function untilReported(id: string): Promise<{ readonly counts: Readonly<Record<string, number>> }> {
    for (;;) {
      const answer = await fetch(`${consoleUrl}/api/batches/${id}`);
      const batch = (await answer.json()) as { revision?: number; counts: Readonly<Record<string, number>> };
      if (answer.ok && (batch.revision ?? 0) > 0) return batch;
      await sleep(POLL_INTERVAL_MS);
    }
  }

  it('only shows in a console without Temporal, and says so', async () => {
    const port = String(await ownPort());
    const { TEMPORAL_ADDRESS: _, INVOICING_BASE_URL: __, INVOICING_API_KEY: ___, ...alone } = env;
    const web = all.start(['console'], { ...alone, CONSOLE_PORT: port });
    await web.said('Console http');

    const home = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(home).toContain('This console only shows');
    expect(home).not.toContain('type="file"');
    expect(home).toContain('shared.csv');
    expect(await (await fetch(`http://127.0.0.1:${port}/health`)).text()).toContain('TEMPORAL_ADDRESS must be set');
    web.signal('SIGTERM');
    expect((await web.end).code).toBe(0);
  });

  it('ends a run with 3 when no worker lives, also while the killed ones are still listed, and leaves no batch', async () => {
    for (const worker of workers.slice(1)) worker.signal('SIGKILL');
    await Promise.all(workers.map(({ end }) => end));
    const file = join(place.inputDir, 'nobody.csv');
    await writeInvoiceFile(file, { invoices: 2 });

    const listed = await runLote(['run', file, '--json'], client);
    const never = await runLote(['run', file, '--json'], {
      ...client,
      LOTE_TASK_QUEUE: `${client['LOTE_TASK_QUEUE']}-x`,
    });
    const status = await runLote(['status', '--json'], client);

    for (const { code, stdout, stderr } of [listed, never]) {
      expect(code, stderr).toBe(3);
      expect(documentOf(stdout)).toMatchObject({ batches: [], error: { code: 'worker-missing' } });
    }
    expect(documentOf<{ batches: Batch[] }>(status.stdout).batches.map(({ id }) => id)).toEqual([
      expect.stringContaining('batch-browser-'),
      expect.stringContaining('batch-shared-'),
    ]);
  });

  it('has issued every invoice exactly once, say the books that the sandbox left on disk', async () => {
    sandbox.signal('SIGTERM');
    await sandbox.end;

    const books = await leftBooks(sandboxPlace.dataDir);

    expect(books.duplicates).toEqual([]);
    expect(books.totals).toMatchObject({ invoices: INVOICES, issued: INVOICES, failed: 0 });
  });
});

async function sent(database: PostgresDatabase): Promise<number> {
  const rows = await database
    .rows<{ sent: string }>(`SELECT count(*) AS sent FROM invoice WHERE state <> 'staged'`)
    .catch(() => []);
  return Number(rows[0]?.sent ?? 0);
}
