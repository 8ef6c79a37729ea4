import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { batchIdOf } from '../../../src/contract/batch-id.ts';
import { openDataDir } from '../../../src/runtime/data-dir/data-dir.ts';
import { readEndpoints } from '../../../src/runtime/data-dir/endpoints-file.ts';
import { hashFile } from '../../../src/ingest/hash-file.ts';
import { openPgliteDatabase } from '../../../src/ledger/database/pglite/open-pglite-database.ts';
import { distributedPlace, type DistributedPlace } from '../../support/lote/distributed-place.ts';
import { writeInvoiceFile } from '../../support/files/invoice-file.ts';
import { leftBooks } from '../../support/crash/left-books.ts';
import { newPlace, runLote, type CommandEnd, type Place } from '../../support/lote/lote-command.ts';
import { processes } from '../../support/lote/processes.ts';
import { sharedTemporal } from '../../support/servers/shared-temporal.ts';
import { until } from '../../support/until.ts';

const server = inject('postgresUrl');
const PURGE = ['purge', '--older-than', '1d', '--json'];
/** As if all that has ended had ended two days ago. */
const AGE = `UPDATE batch SET started_at = started_at - 172800000, finished_at = finished_at - 172800000 WHERE finished_at IS NOT NULL`;
/** At the pace of `SLOW`, long enough to be paused on the way. */
const RUNNING_INVOICES = 60;
/** Nobody sends the workers webhooks: they ask for final words soon. */
const SLOW = { limits: { requestsPerSecond: 8, pollEverySeconds: 1 } };

interface PurgedDocument {
  readonly purged: { readonly batches: readonly { readonly batchId: string; readonly sha256: string }[] };
}
interface BatchesDocument {
  readonly batches: readonly {
    readonly id: string;
    readonly state: string;
    readonly counts: Readonly<Record<string, number>>;
  }[];
}

interface Beside {
  readonly place: Place;
  /** Files that are kept of what neither runs nor is purged. */
  readonly keptOfOthers: number;
  readonly env: Readonly<Record<string, string>>;
  readonly temporalAddress: string;
  /** How many invoices of the batch were sent; 0 while nobody knows it. */
  readonly sentOf: (batchId: string) => Promise<number>;
}

function documentOf<T>({ code, stdout, stderr }: CommandEnd, expected = 0): T {
  expect(code, stderr).toBe(expected);
  return JSON.parse(stdout) as T;
}

function idsOf(end: CommandEnd): readonly string[] {
  return documentOf<PurgedDocument>(end).purged.batches.map(({ batchId }) => batchId);
}

async function keptFiles({ dataDir }: Place): Promise<readonly string[]> {
  return (await readdir(join(dataDir, 'files'))).filter((name) => !name.startsWith('.'));
}

describe('lote purge while others work', { timeout: 600_000 }, () => {
  let profiles: string;
  let slow: { readonly SERVICE_PROFILE: string };

  beforeAll(async () => {
    profiles = await mkdtemp(join(tmpdir(), 'lote-purge-'));
    slow = { SERVICE_PROFILE: join(profiles, 'slow.json') };
    await writeFile(slow.SERVICE_PROFILE, JSON.stringify(SLOW));
  });

  afterAll(() => rm(profiles, { recursive: true, force: true }));

  /** An old batch is purged, and its file dropped again, while another one is being sent. */
  async function purgeBesideRun(
    { place, keptOfOthers, env, temporalAddress, sentOf }: Beside,
    old: string,
  ): Promise<void> {
    const file = join(place.inputDir, 'running.csv');
    await writeInvoiceFile(file, { invoices: RUNNING_INVOICES, series: 'R' });
    const running = batchIdOf(env['LOTE_APPLICATION'] ?? 'default', file, await hashFile(file));
    let runs = true;
    const run = runLote(['run', file, '--json'], env).finally(() => {
      runs = false;
    });
    await until(async () => (await sentOf(running)) > 0);
    // It stays a batch that runs for as long as the commands beside it take.
    const connection = await Connection.connect({ address: temporalAddress });
    const handle = new Client({ connection }).workflow.getHandle(running);
    await handle.executeUpdate<string, [{ reason: string }]>('pause', { args: [{ reason: 'a purge beside it' }] });

    const dropped = runLote(['run', join(place.inputDir, 'old.csv'), '--json'], env);
    const purge = await runLote(PURGE, env);
    expect(runs, 'whether the run went on while the other one was purged').toBe(true);
    const again = await dropped;
    const second = await runLote(PURGE, env);
    await handle.executeUpdate<string, []>('resume');
    await connection.close();

    expect(idsOf(purge)).toEqual([old]);
    expect(idsOf(second)).toEqual([]);
    expect(documentOf<BatchesDocument>(again).batches).toMatchObject([{ id: old, counts: { issued: 4 } }]);
    expect(await keptFiles(place), 'with the file of the batch that runs').toHaveLength(keptOfOthers + 1);
    expect(documentOf<BatchesDocument>(await run).batches).toMatchObject([
      { id: running, state: 'finished', counts: { issued: RUNNING_INVOICES } },
    ]);
  }

  describe('beside `lote up`', () => {
    const all = processes();
    let place: Place;

    beforeEach(async () => {
      place = await newPlace();
    });

    afterEach(async () => {
      await all.killAll();
      await place.remove();
    }, 60_000);

    it('is done by the owner of the data directory, and leaves what runs alone', async () => {
      const ports = { CONSOLE_PORT: '0', RECEIVER_PORT: '0', SANDBOX_PORT: '0' };
      const env = { ...place.env, ...slow, ...ports, ...sharedTemporal() };
      await writeInvoiceFile(join(place.inputDir, 'old.csv'), { invoices: 4 });
      const first = await runLote(['run', join(place.inputDir, 'old.csv'), '--json'], env);
      const [old] = documentOf<BatchesDocument>(first).batches;
      const ledger = await openPgliteDatabase(join(place.dataDir, 'ledger'));
      await ledger.query(AGE);
      await ledger.close();
      const up = all.start(['up'], env);
      await up.said('Console');

      const { temporalAddress = '', console: owner = '' } =
        (await readEndpoints(await openDataDir(place.dataDir))) ?? {};
      const sentOf = async (batchId: string): Promise<number> => {
        const answer = await fetch(`${owner}/api/batches/${batchId}`);
        const { counts = {} } = (await answer.json()) as { counts?: Readonly<Record<string, number>> };
        return (counts['accepted'] ?? 0) + (counts['issued'] ?? 0);
      };
      await purgeBesideRun({ place, keptOfOthers: 0, env, temporalAddress, sentOf }, old?.id ?? '');

      up.signal('SIGTERM');
      await up.end;
      const books = await leftBooks(place.dataDir);
      expect(books.duplicates).toEqual([]);
      expect(books.totals.invoices).toBe(4 + RUNNING_INVOICES);
    });
  });

  describe.skipIf(server === null)('beside workers', () => {
    let there: DistributedPlace;

    // Both tests use one ledger; the last one ends the sandbox, to read its books.
    beforeAll(async () => {
      const temporalAddress = inject('temporalAddress');
      there = await distributedPlace({ postgresUrl: server ?? '', temporalAddress, env: slow });
      const workers = [1, 2].map(() => there.processes.start(['worker'], { ...there.env, LOTE_SETTLE_TIMEOUT: '10m' }));
      await Promise.all(workers.map((worker) => worker.said('Worker on task queue')));
    }, 120_000);

    afterAll(() => there.remove(), 60_000);

    async function ranOld(series: string): Promise<string> {
      await writeInvoiceFile(join(there.place.inputDir, 'old.csv'), { invoices: 4, series });
      const end = await runLote(['run', join(there.place.inputDir, 'old.csv'), '--json'], there.client);
      return documentOf<BatchesDocument>(end).batches[0]?.id ?? '';
    }

    it('removes nothing when it stood still in the middle of it, and somebody claimed a file meanwhile', async () => {
      const old = await ranOld('S');
      const refused = join(there.place.inputDir, 'refused.csv');
      await writeFile(refused, 'this,is,no\ninvoice,file,at all\n');
      documentOf(await runLote(['run', refused, '--json'], there.client), 2);
      await there.database.rows(AGE);
      // It has decided, and waits for an invoice of what it decided about.
      const blocker = new pg.Client({ connectionString: there.database.url });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('SELECT invoice_id FROM invoice FOR UPDATE');
      const purge = there.processes.start(PURGE, there.client);
      await until(async () => (await there.database.rows(WAITING)).length > 0);
      purge.signal('SIGSTOP');
      await blocker.query('COMMIT');
      await blocker.end();

      documentOf(await runLote(['run', refused, '--json'], there.client), 2);
      purge.signal('SIGCONT');
      const { code, stderr } = await purge.end;

      expect(code, stderr).toBe(3);
      expect(await keptFiles(there.place)).toHaveLength(2);
      expect(await there.database.rows('SELECT invoice_id FROM invoice_content')).toHaveLength(4);
      expect(idsOf(await runLote(PURGE, there.client)), 'the refused file was read again today').toEqual([old]);
      expect(await keptFiles(there.place)).toHaveLength(1);
    });

    it('needs nothing but the ledger, and leaves what runs alone', async () => {
      const old = await ranOld('O');
      await there.database.rows(`${AGE} AND batch_id = '${old}'`);

      const sentOf = async (batchId: string): Promise<number> => {
        const sent = `SELECT invoice_id FROM invoice JOIN batch_invoice USING (invoice_id)
          WHERE batch_id = '${batchId}' AND state IN ('accepted', 'issued')`;
        return (await there.database.rows(sent)).length;
      };
      const temporalAddress = inject('temporalAddress');
      // Of the test before, the file that was refused.
      const others = { place: there.place, keptOfOthers: 1 };
      await purgeBesideRun({ ...others, env: there.client, temporalAddress, sentOf }, old);

      there.sandbox.signal('SIGTERM');
      await there.sandbox.end;
      const books = await leftBooks(there.sandboxPlace.dataDir);
      expect(books.duplicates).toEqual([]);
      expect(books.totals.invoices).toBe(4 + 4 + RUNNING_INVOICES);
    });
  });
});

const WAITING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%lock-purged-invoices%' AND query NOT LIKE '%pg_stat_activity%'`;
