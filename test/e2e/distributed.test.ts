import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { writeInvoiceFile } from '../support/files/batch-file.ts';
import { shared } from '../support/lifetime.ts';
import { startFleet } from '../support/lote/fleet.ts';
import { newPlace, runLote, type RunningCommand } from '../support/lote/lote-command.ts';
import { batchesOf, batchOf, documentOf } from '../support/lote/running-lote.ts';
import { ownPort } from '../support/servers/own-port.ts';
import { postgresDatabase, type PostgresDatabase } from '../support/servers/postgres-database.ts';
import { untilOr } from '../support/until.ts';
import { SANDBOX_KEY } from '../support/servers/service-front.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { fileStore } from '../../src/sandbox/store.ts';

const INVOICES = 200;
/** So that each part is killed while invoices are being sent. */
const SLOW = { limits: { requestsPerSecond: 40 } };
const POLL_INTERVAL_MS = 50;
const server = inject('postgresUrl');

/** The topology of docker-compose.yml, as processes: what is shared is a database, a Temporal server and the input folder. */
describe.skipIf(server === null)('the distributed form', () => {
  const env = { LOTE_PAGE_SIZE: '20', LOTE_SETTLE_TIMEOUT: '60s' };
  const fleet = shared(() => startFleet({ profile: SLOW, env }));
  const sandboxPlace = shared(newPlace);
  let strangers: PostgresDatabase;
  /** A process that a test can end, and whose books are on a disk. */
  let sandbox: RunningCommand;
  let sandboxUrl: string;
  let upSandbox: () => RunningCommand;
  let receiver: RunningCommand;
  const workers: RunningCommand[] = [];
  let consoleUrl: string;

  beforeAll(async () => {
    strangers = await postgresDatabase(server ?? '');
    const [sandboxPort, consolePort] = [String(await ownPort()), String(await ownPort())];
    sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    consoleUrl = `http://127.0.0.1:${consolePort}`;
    upSandbox = () => fleet.all.start(['sandbox'], { ...sandboxPlace.env, SANDBOX_PORT: sandboxPort });
    sandbox = upSandbox();
    const { INVOICING_API_KEY: _, ...withoutKey } = fleet.env;
    const web = fleet.all.start(['console'], { ...withoutKey, ...own(), CONSOLE_PORT: consolePort });
    receiver = fleet.start('receiver', own());
    workers.push(fleet.start('worker', own()), fleet.start('worker', own()));
    await Promise.all([
      sandbox.said('Sandbox http'),
      receiver.said('Receiver http'),
      web.said('Console http'),
      ...workers.map((worker) => worker.said('Worker on task queue')),
    ]);
  });

  afterAll(() => strangers?.drop());

  const own = () => ({
    INVOICING_BASE_URL: sandboxUrl,
    WEBHOOK_URL: `http://127.0.0.1:${fleet.env['RECEIVER_PORT']}/webhooks`,
  });

  it('finishes a batch when its receiver, the service and one of two workers are killed, and keeps workers of another ledger out', async () => {
    const file = await fleet.file('shared.csv', { invoices: INVOICES });
    const stranger = fleet.start('worker', { ...own(), DATABASE_URL: strangers.url });
    const run = fleet.all.start(['run', file, '--json'], fleet.clientEnv);
    await untilSent(INVOICES / 5, run);
    await kill(receiver);
    receiver = fleet.start('receiver', own());
    await untilSent((INVOICES * 2) / 5, run);
    await kill(sandbox);
    sandbox = upSandbox();
    await untilSent((INVOICES * 3) / 5, run);
    await kill(workers[0] as RunningCommand);

    const end = await run.end;

    expect(end.code, end.stderr).toBe(0);
    const batch = batchOf(end);
    expect(batch).toMatchObject({ state: 'finished', counts: { invoices: INVOICES, issued: INVOICES } });
    const refused = await stranger.end;
    expect(refused.code, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('all its workers must keep one ledger');
    await expectSameFromElsewhere(batch.id);
  });

  /** By progress, not by time: a slow machine must not kill anything before it has begun. */
  function untilSent(invoices: number, run: RunningCommand): Promise<boolean> {
    return untilOr(run.end, async () => (await sent(fleet.database)) >= invoices);
  }

  async function kill(part: RunningCommand): Promise<void> {
    part.signal('SIGKILL');
    await part.end;
  }

  /** What the run said, said by the console and by `lote report` of other processes. */
  async function expectSameFromElsewhere(id: string): Promise<void> {
    const shown = (await (await fetch(`${consoleUrl}/api/batches/${id}`)).json()) as { counts: object };
    const report = await fleet.run('report', id, '--follow', '--json');
    expect(shown.counts).toMatchObject({ issued: INVOICES });
    expect(report.code, report.stderr).toBe(0);
    expect(documentOf<{ batch: object }>(report).batch).toMatchObject({
      id,
      state: 'finished',
      counts: { issued: INVOICES, invoices: INVOICES },
      reports: { json: join(fleet.reportsDir, id, 'report.json') },
    });
  }

  it('does in a console of its own what that of one process does: check, start, health, profile', async () => {
    const origin = { origin: consoleUrl };
    const form = new FormData();
    const file = join(fleet.directory, 'browser.csv');
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
    expect(health).toContain(sandboxUrl);
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
    const { TEMPORAL_ADDRESS: _, INVOICING_BASE_URL: __, INVOICING_API_KEY: ___, ...alone } = fleet.env;
    const web = fleet.all.start(['console'], { ...alone, CONSOLE_PORT: port });
    await web.said('Console http');

    const home = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    expect(home).toContain('This console only shows');
    expect(home).not.toContain('type="file"');
    expect(home).toContain('shared.csv');
    expect(await (await fetch(`http://127.0.0.1:${port}/health`)).text()).toContain('TEMPORAL_ADDRESS must be set');
    web.signal('SIGTERM');
    expect((await web.end).code).toBe(0);
  });

  it('ends a run with 3 when no worker lives, and leaves no batch', async () => {
    const file = await fleet.file('nobody.csv', { invoices: 2 });
    const other = { ...fleet.clientEnv, LOTE_TASK_QUEUE: `${fleet.env['LOTE_TASK_QUEUE']}-x` };

    const end = await runLote(['run', file, '--json'], other);
    const status = await fleet.run('status', '--json');

    expect(end.code, end.stderr).toBe(3);
    expect(documentOf(end)).toMatchObject({ batches: [], error: { code: 'worker-missing' } });
    expect(batchesOf(status).map(({ id }) => id)).toEqual([
      expect.stringContaining('batch-browser-'),
      expect.stringContaining('batch-shared-'),
    ]);
  });

  it('has issued every invoice exactly once, say the books that the sandbox left on disk', async () => {
    sandbox.signal('SIGTERM');
    await sandbox.end;

    const store = fileStore({ directory: join(sandboxPlace.dataDir, 'sandbox') });
    const reader = await startSandbox({ port: 0, store, apiKeys: [SANDBOX_KEY] });
    const books = reader.books();
    await reader.close();

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
