import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { describe, expect, inject, it } from 'vitest';
import { batchIdOf } from '../../../src/domain/messages/batch-id.ts';
import { openPgliteDatabase } from '../../../src/database/open-pglite-database.ts';
import { hashFile } from '../../../src/ingest/file-chunks.ts';
import { openDataDir } from '../../../src/app/data-dir/data-dir.ts';
import { readEndpoints } from '../../../src/app/data-dir/endpoints-file.ts';
import { forTest, shared } from '../../support/lifetime.ts';
import { startFleet, type Fleet } from '../../support/lote/fleet.ts';
import type { CommandEnd, Place } from '../../support/lote/lote-command.ts';
import { batchesOf, documentOf, lotePlace } from '../../support/lote/running-lote.ts';
import { until } from '../../support/until.ts';

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
interface Beside extends Pick<Fleet, 'run' | 'file'> {
  readonly place: Place;
  readonly application: string;
  /** Files that are kept of what neither runs nor is purged. */
  readonly keptOfOthers: number;
  readonly temporalAddress: string;
  /** How many invoices of the batch were sent; 0 while nobody knows it. */
  readonly sentOf: (batchId: string) => Promise<number>;
}

function expectCode(end: CommandEnd, code = 0): CommandEnd {
  expect(end.code, end.stderr).toBe(code);
  return end;
}

function idsOf(end: CommandEnd): readonly string[] {
  return documentOf<PurgedDocument>(expectCode(end)).purged.batches.map(({ batchId }) => batchId);
}

async function keptFiles({ dataDir }: Place): Promise<readonly string[]> {
  return (await readdir(join(dataDir, 'files'))).filter((name) => !name.startsWith('.'));
}

describe('lote purge while others work', () => {
  /** An old batch is purged, and its file dropped again, while another one is being sent. */
  async function purgeBesideRun(beside: Beside, old: string): Promise<void> {
    const { place, application, keptOfOthers, temporalAddress, sentOf } = beside;
    const file = await beside.file('running.csv', { invoices: RUNNING_INVOICES, series: 'R' });
    const running = batchIdOf(application, file, await hashFile(file));
    let runs = true;
    const run = beside.run('run', file, '--json').finally(() => {
      runs = false;
    });
    await until(async () => (await sentOf(running)) > 0);
    // It stays a batch that runs for as long as the commands beside it take.
    const connection = await Connection.connect({ address: temporalAddress });
    const handle = new Client({ connection }).workflow.getHandle(running);
    await handle.executeUpdate<string, [{ reason: string }]>('pause', { args: [{ reason: 'a purge beside it' }] });

    const dropped = beside.run('run', join(place.inputDir, 'old.csv'), '--json');
    const purge = await beside.run(...PURGE);
    expect(runs, 'whether the run went on while the other one was purged').toBe(true);
    const again = await dropped;
    const second = await beside.run(...PURGE);
    await handle.executeUpdate<string, []>('resume');
    await connection.close();

    expect(idsOf(purge)).toEqual([old]);
    expect(idsOf(second)).toEqual([]);
    expect(batchesOf(expectCode(again))).toMatchObject([{ id: old, counts: { issued: 4 } }]);
    expect(await keptFiles(place), 'with the file of the batch that runs').toHaveLength(keptOfOthers + 1);
    expect(batchesOf(expectCode(await run))).toMatchObject([
      { id: running, state: 'finished', counts: { issued: RUNNING_INVOICES } },
    ]);
  }

  it('beside `lote up` is done by the owner of the data directory, and leaves what runs alone', async () => {
    const place = await forTest(lotePlace({ profile: SLOW }));
    const first = await place.run('run', await place.file('old.csv', { invoices: 4 }), '--json');
    const [old] = batchesOf(expectCode(first));
    const ledger = await openPgliteDatabase(join(place.dataDir, 'ledger'));
    await ledger.query(AGE);
    await ledger.close();
    await place.start('up').said('Console');

    const { temporalAddress = '', console: owner = '' } = (await readEndpoints(await openDataDir(place.dataDir))) ?? {};
    const sentOf = async (batchId: string): Promise<number> => {
      const answer = await fetch(`${owner}/api/batches/${batchId}`);
      const { counts = {} } = (await answer.json()) as { counts?: Readonly<Record<string, number>> };
      return (counts['accepted'] ?? 0) + (counts['issued'] ?? 0);
    };
    const application = place.env['LOTE_APPLICATION'] ?? '';
    await purgeBesideRun({ ...place, place, application, keptOfOthers: 0, temporalAddress, sentOf }, old?.id ?? '');

    place.expectIssued(4 + RUNNING_INVOICES);
  });

  describe.skipIf(inject('postgresUrl') === null)('beside workers', () => {
    const options = { roles: ['worker', 'worker'], profile: SLOW, env: { LOTE_SETTLE_TIMEOUT: '10m' } } as const;
    // Both tests use one ledger.
    const there = shared(() => startFleet(options));

    async function ranOld(series: string): Promise<string> {
      const end = await there.run('run', await there.file('old.csv', { invoices: 4, series }), '--json');
      return batchesOf(expectCode(end))[0]?.id ?? '';
    }

    it('removes nothing when it stood still in the middle of it, and a batch claimed a file meanwhile', async () => {
      const old = await ranOld('S');
      const refused = join(there.place.inputDir, 'refused.csv');
      await writeFile(refused, 'this,is,no\ninvoice,file,at all\n');
      expectCode(await there.run('run', refused, '--json'), 2);
      await there.database.rows(AGE);
      // It has decided, and waits for an invoice of what it decided about.
      const blocker = new pg.Client({ connectionString: there.database.url });
      await blocker.connect();
      await blocker.query('BEGIN');
      await blocker.query('SELECT invoice_id FROM invoice FOR UPDATE');
      const purge = there.all.start(PURGE, there.clientEnv);
      await until(async () => (await there.database.rows(WAITING)).length > 0);
      purge.signal('SIGSTOP');
      await blocker.query('COMMIT');
      await blocker.end();

      expectCode(await there.run('run', refused, '--json'), 2);
      purge.signal('SIGCONT');
      const { code, stderr } = await purge.end;

      expect(code, stderr).toBe(3);
      expect(await keptFiles(there.place)).toHaveLength(2);
      expect(await there.database.rows('SELECT invoice_id FROM invoice_content')).toHaveLength(4);
      expect(idsOf(await there.run(...PURGE)), 'the refused file was read again today').toEqual([old]);
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
      const application = there.env['LOTE_APPLICATION'] ?? '';
      const temporalAddress = inject('temporalAddress');
      // Of the test before, the file that was refused.
      await purgeBesideRun({ ...there, application, keptOfOthers: 1, temporalAddress, sentOf }, old);

      there.expectIssued(4 + 4 + RUNNING_INVOICES);
    });
  });
});

const WAITING = `SELECT pid FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%lock-purged-invoices%' AND query NOT LIKE '%pg_stat_activity%'`;
