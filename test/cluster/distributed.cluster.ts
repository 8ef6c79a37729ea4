import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningCommand } from '../support/lote/lote-command.ts';
import { until } from '../support/until.ts';
import { prepareCluster, type Cluster } from './support/cluster.ts';
import { GO_PROGRAMS, composeService } from './support/cluster-places.ts';
import {
  booksOf,
  issueFile,
  ledgerOf,
  startAll,
  type IssuedBatch,
  type RunningCluster,
} from './support/running-cluster.ts';

/** Of each batch. `CLUSTER_INVOICES=2000 npm run test:cluster` is the short run. */
const INVOICES = Number(process.env['CLUSTER_INVOICES'] ?? 20_000);
const MANY_WORKERS = 6;
const FILES_AT_ONCE = ['A', 'B', 'C'];
/** Longer than the heartbeat of a slice and than a workflow task. */
const STOPPED_MS = 40_000;
const AWAY_MS = 30_000;

describe('the distributed form, as docker-compose.yml describes it', () => {
  let cluster: Cluster;
  let running: RunningCluster;
  let issued = 0;

  beforeAll(async () => {
    cluster = await prepareCluster((line) => void process.stderr.write(`${line}\n`));
  });

  afterAll(async () => {
    await cluster?.stop();
  });

  it('is prepared by its jobs, which may be repeated', async () => {
    for (const job of ['roles', 'temporal-schema', 'folders']) {
      await cluster.job(job);
      await cluster.job(job);
    }
  });

  it('runs programs of the versions of its images', () => {
    const imageOf = { 'temporal-server': 'temporal', 'temporal-sql-tool': 'temporal-schema', caddy: 'receiver-tls' };
    for (const { name, version } of GO_PROGRAMS)
      expect(composeService(imageOf[name as keyof typeof imageOf]).image).toMatch(new RegExp(`:${version.slice(1)}$`));
  });

  it('gives Lote and Temporal roles without rights of the server, and each only its own databases', async () => {
    const admin = await cluster.connect('postgres', 'postgres');
    const { rows } = await admin.query(
      `SELECT rolname FROM pg_roles WHERE (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)
         AND rolname !~ '^pg_'`,
    );
    await admin.end();
    expect(rows).toEqual([{ rolname: 'postgres' }]);
    for (const database of ['temporal', 'temporal_visibility', 'postgres'])
      await expect(cluster.connect('lote', database)).rejects.toThrow('permission denied for database');
    await expect(cluster.connect('temporal', 'lote')).rejects.toThrow('permission denied for database');
    await (await cluster.connect('lote', 'lote')).end();
    await (await cluster.connect('temporal', 'temporal')).end();
  });

  it('comes up, with passwords of any character, and each part says that it is well', async () => {
    running = await startAll(cluster, 1);
    await cluster.job('temporal-namespace');

    const token = (await readFile(join(cluster.directory, 'secrets/console-token'), 'utf8')).trim();
    const console = `http://127.0.0.1:${cluster.ports.console}`;
    expect((await fetch(`${console}/health/ready`)).status).toBe(200);
    const health = await (await fetch(`${console}/health`, { headers: { authorization: `Bearer ${token}` } })).text();
    expect(health).toContain(`http://127.0.0.1:${cluster.ports.sandbox} answers`);
    // The owner of a folder of the host stays; Lote's group may write.
    if (process.getuid?.() === 0) {
      const folder = await stat(join(cluster.directory, 'reports'));
      expect({ uid: folder.uid, mode: folder.mode & 0o7777 }).toEqual({ uid: 0, mode: 0o2775 });
    }
  });

  it('has a sandbox that takes any test key, as its documentation says', async () => {
    const answerTo = (key: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${cluster.ports.sandbox}/v1/merchants`, { headers: { authorization: `Bearer ${key}` } });

    expect((await answerTo('sk_test_anybody-1')).status).toBe(200);
    expect((await answerTo('sk_live_1')).status).toBe(401);
  });

  it('issues three files at once with six workers', async () => {
    while (running.workers.length < MANY_WORKERS) await running.addWorker();
    const batches = await Promise.all(FILES_AT_ONCE.map((name) => issueFile(cluster, { name, invoices: INVOICES })));

    for (const batch of batches) {
      expect(batch.exitCode, batch.stderr).toBe(0);
      expectSettled(batch);
    }
    await expectOneDocumentEach();
  });

  it('leaves two workers for what follows', async () => {
    for (const worker of running.workers.splice(2)) await ended(worker);
  });

  /** A worker that is stopped ends by itself. */
  async function ended(worker: RunningCommand): Promise<void> {
    worker.signal('SIGTERM');
    expect((await worker.end).code).toBe(0);
  }

  it.each<[string, () => Promise<void>]>([
    [
      'a worker is killed',
      async () => {
        running.workers[0]?.killGroup();
        await running.workers.shift()?.end;
        await running.addWorker();
      },
    ],
    [
      'both workers are restarted, one after the other',
      async () => {
        for (const worker of running.workers.slice()) {
          await ended(worker);
          running.workers.shift();
          await running.addWorker();
        }
      },
    ],
    [
      'the Temporal server is away for 30 s',
      async () => {
        await running.killTemporal();
        await sleep(AWAY_MS);
        await running.startTemporal();
      },
    ],
    ['one receiver is killed, then the other', () => running.killReceiver(0).then(() => running.killReceiver(1))],
    ['PostgreSQL crashes and starts again', () => cluster.postgres.kill().then(() => cluster.postgres.restart())],
    [
      'a worker stands still for 40 s and goes on',
      async () => {
        running.workers[0]?.signal('SIGSTOP');
        await sleep(STOPPED_MS);
        running.workers[0]?.signal('SIGCONT');
      },
    ],
  ])('issues each invoice once when %s', async (title, fault) => {
    const name = `X${title.replaceAll(/[^a-z]/giu, '').slice(0, 12)}`;
    const batch = await issueFile(cluster, { name, invoices: INVOICES, fault });
    const { exitCode, seconds, sentAtFault } = batch;
    process.stderr.write(
      `${title}: after ${sentAtFault} answers; ${seconds.toFixed(1)} s; lote run ended with ${exitCode}\n`,
    );
    expect(batch.sentAtFault, 'the fault must come while the batch is sent').toBeLessThan(INVOICES);
    await expectWhole(batch);
  });

  it('has two workers at work at the end', async () => {
    await until(async () => (await cluster.lote('status').end).code === 0);
    expect(running.workers).toHaveLength(2);
  });

  /** Nothing is lost and nothing is double, by the service's own books; the report says the same, and balances. */
  async function expectWhole(batch: IssuedBatch): Promise<void> {
    expectSettled(batch);
    await expectOneDocumentEach();
  }

  async function expectOneDocumentEach(): Promise<void> {
    await until(async () => (await booksOf(cluster)).totals.deliveriesPending === 0);
    const { totals, duplicates } = await booksOf(cluster);
    expect(duplicates).toEqual([]);
    expect(totals).toMatchObject({ invoices: issued, issued, failed: 0, deliveriesGivenUp: 0 });
    expect(await ledgerOf(cluster).deliveries(), 'each invoice has one event').toBe(issued);
  }

  function expectSettled(batch: IssuedBatch): void {
    issued += INVOICES;
    expect(batch).toMatchObject({ state: 'finished', counts: { invoices: INVOICES, issued: INVOICES } });
    // A report is only written when it balances.
    expect(batch.report.counts).toMatchObject({ rows: INVOICES, invoices: INVOICES, issued: INVOICES, rowsLost: 0 });
  }
});
