import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { confirmServiceCommand } from '../../../../src/cli/commands/confirm-ledger.ts';
import { readConfig } from '../../../../src/app/config/config.ts';
import { purgeCommand } from '../../../../src/cli/commands/purge.ts';
import { reportCommand } from '../../../../src/cli/commands/report.ts';
import { readProfile, profileDigestOf } from '../../../../src/app/account/read-profile.ts';
import { misfitsOf, stopCalibration } from '../../../../src/domain/calibration-state.ts';
import { keptFile } from '../../../../src/app/files/kept-files.ts';
import { openLedger } from '../../../../src/app/account/open-ledger.ts';
import {
  accepted,
  createScenario,
  delivery,
  NOW,
  REASON,
  serviceIdOf,
  type TestBatch,
  recordDeliveries,
} from '../../ledger/scenario.ts';
import { postgresDatabase, type PostgresDatabase, postgresUrl } from '../../../support/servers/postgres-database.ts';
import { sharedDirectory } from '../../../support/files/temporary-directory.ts';
import { printed } from '../../../unit/cli/printed.ts';

const url = postgresUrl();

describe.skipIf(url === null)('commands that read a ledger', () => {
  const ownDirectory = sharedDirectory();
  let database: PostgresDatabase;
  let directory: string;
  let env: Record<string, string>;
  let application: string;
  let issued: TestBatch;
  let running: TestBatch;
  let failed: TestBatch;

  beforeAll(async () => {
    directory = ownDirectory();
    database = await postgresDatabase(url ?? '');
    env = {
      DATABASE_URL: database.url,
      LOTE_DATA_DIR: join(directory, 'data'),
      LOTE_REPORTS_DIR: join(directory, 'reports'),
      LOTE_LOG_LEVEL: 'silent',
    };
    const ledger = await openLedger({ databaseUrl: database.url, directory });
    try {
      const scenario = createScenario(ledger);
      ({ application } = scenario);
      issued = await scenario.run([{ ref: 'A' }]);
      await issued.send('A', accepted(serviceIdOf(scenario, 'A')));
      await recordDeliveries(ledger, [delivery(serviceIdOf(scenario, 'A'), 'issued')]);
      await issued.finish();
      failed = await scenario.run([{ ref: 'B' }, { ref: 'C' }]);
      await failed.send('B', { kind: 'rejected', reason: REASON });
      await ledger.holdUnsent(failed.batchId, { reason: REASON, now: NOW });
      await failed.finish();
      running = await scenario.run([{ ref: 'D' }, { ref: 'E' }]);
      await running.send('D', { kind: 'rejected', reason: REASON });
    } finally {
      await ledger.close();
    }
    const reports = join(directory, 'reports', issued.batchId);
    await mkdir(reports, { recursive: true });
    for (const name of ['report.json', 'report.csv', 'report.html', 'corrections.tsv'])
      await writeFile(join(reports, name), '{}');
  });

  afterAll(async () => {
    await database.drop();
  });

  describe('lote report', () => {
    it('is the summary of a batch that has ended, with the files that are there', async () => {
      const { stdout } = printed();
      const reports = join(directory, 'reports', issued.batchId);

      expect(await reportCommand(env, { batch: issued.batchId, follow: false, json: false })).toBe(0);
      expect(stdout()).toBe(
        [
          `Batch ${issued.batchId}: finished`,
          '  issued                 1',
          '  invoices               1   from 1 rows',
          `Report       ${join(reports, 'report.html')}`,
          `Corrections  ${join(reports, 'corrections.tsv')}`,
          '',
        ].join('\n'),
      );
    });

    it('says of a batch that goes on how far it is, and ends with 1', async () => {
      const { stdout } = printed();

      expect(await reportCommand(env, { batch: running.batchId, follow: false, json: false })).toBe(1);
      expect(stdout()).toBe(
        `Batch ${running.batchId}: running, 1 of 2 invoices at rest. No report yet; --follow waits for it.\n`,
      );
    });

    it('is one JSON document, with null for a file that is not there, and 1 where something is not issued', async () => {
      const { stdout } = printed();

      expect(await reportCommand(env, { batch: failed.batchId, follow: false, json: true })).toBe(1);

      expect(JSON.parse(stdout())).toEqual({
        batch: {
          ...{ id: failed.batchId, file: 'invoices.csv', state: 'finished' },
          counts: { held: 1, rejected: 1, rows: 2, invoices: 2, rowsWithoutInvoice: 0, rowsLost: 0 },
          reports: { json: null, csv: null, html: null, corrections: null },
        },
      });
    });
  });

  describe('lote confirm-service', () => {
    it('makes the configured account the application’s, and says which', async () => {
      const { stdout } = printed();

      expect(await confirmServiceCommand({ ...env, LOTE_APPLICATION: 'iberia' })).toBe(0);
      const account = { INVOICING_BASE_URL: 'https://api.example/', INVOICING_API_KEY: 'sk_test_abc' };
      expect(await confirmServiceCommand({ ...env, ...account })).toBe(0);

      expect(stdout().split('\n')).toEqual([
        'Application "iberia" of this ledger uses built-in sandbox with the configured key. The ids in its list of merchants count as right.',
        'Application "default" of this ledger uses https://api.example with the configured key. The ids in its list of merchants count as right.',
        '',
      ]);
      expect(stdout()).not.toContain('sk_test_abc');
    });

    it('takes the profile for right only if it is told so: a new key says nothing of its words', async () => {
      const { stdout } = printed();
      const own = { ...env, INVOICING_BASE_URL: 'https://words.example', INVOICING_API_KEY: 'sk_test_words' };
      const config = readConfig(own);
      const digest = profileDigestOf(config, readProfile(config));
      const ledger = await openLedger({ databaseUrl: database.url, directory });
      const codes = async () => misfitsOf(await ledger.calibration(digest)).map(({ code }) => code);
      try {
        await ledger.calibrate(digest, (draft) =>
          stopCalibration(draft, { code: 'profile-contradiction', message: 'Swapped.' }, NOW),
        );

        await confirmServiceCommand(own);
        expect(await codes()).toEqual(['profile-contradiction']);
        await confirmServiceCommand(own, { profile: true });
        expect(await codes()).toEqual([]);
        expect(stdout()).toContain('Its service profile counts as right.');
      } finally {
        await ledger.close();
      }
    });
  });

  describe('lote purge', () => {
    const own = (): Record<string, string> => ({ ...env, LOTE_APPLICATION: application });

    it('leaves the batches of another application', async () => {
      const { stdout } = printed();

      expect(await purgeCommand(env, { olderThan: '1d', dryRun: false, json: false })).toBe(0);

      expect(stdout()).toMatch(/^Nothing to purge\./u);
    });

    it('first says what would go, and removes nothing', async () => {
      const { stdout } = printed();
      const kept = keptFile(join(directory, 'data'), issued.sha256);
      await mkdir(join(kept, '..'), { recursive: true });
      await writeFile(kept, 'bytes');

      expect(await purgeCommand(own(), { olderThan: '1d', dryRun: true, json: true })).toBe(0);

      type Said = { dryRun: boolean; purged: { batches: { batchId: string }[] } };
      const { dryRun, purged } = JSON.parse(stdout()) as Said;
      expect(dryRun).toBe(true);
      const ids = purged.batches.map(({ batchId }) => batchId);
      expect(ids).toContain(issued.batchId);
      expect(ids).not.toContain(running.batchId);
      await expect(writeFile(kept, 'still there', { flag: 'wx' })).rejects.toMatchObject({ code: 'EEXIST' });
    });

    it('then removes the words and the copies of files, once', async () => {
      const { stdout } = printed();

      await purgeCommand(own(), { olderThan: '1 day', dryRun: false, json: false });
      const first = stdout();
      await purgeCommand(own(), { olderThan: '1d', dryRun: false, json: false });

      const lines = first.split('\n');
      expect(lines[0]).toMatch(/^Purged \d+ batches:$/u);
      expect(lines.slice(1, 6).map((line) => line.replace(/ +\d+$/u, ''))).toEqual([
        '  contents of invoices',
        '  bodies of requests',
        '  findings',
        '  unreadable deliveries',
        '  copies of files',
      ]);
      const stay = [
        'Batches of that age stay as they are (2), because they have not ended, or invoices of them may still go:',
        `  ${failed.batchId} (finished, 1 invoices not at their end)`,
        `  ${running.batchId} (running, 1 invoices not at their end)`,
        expect.stringMatching(/^Their reports say what to do: /u) as string,
        '',
      ];
      expect(lines.slice(6)).toEqual([
        'Keys, fingerprints, states and reports stay. Dropped files under the input directory are yours to remove.',
        ...stay,
      ]);
      expect(stdout().slice(first.length).split('\n')).toEqual(['Nothing to purge.', ...stay]);
      await writeFile(keptFile(join(directory, 'data'), issued.sha256), 'gone, so it can be written', { flag: 'wx' });
    });

    it('believes no clock that is not the one of the database', async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 400 * 86_400_000 });
      onTestFinished(() => void vi.useRealTimers());

      const asked = purgeCommand(own(), { olderThan: '390d', dryRun: false, json: true });

      const words = /^Working on the ledger: .* s ahead\. Nothing was sent or removed\. Set both \(NTP\)\.$/u;
      const message = expect.stringMatching(words) as string;
      await expect(asked).rejects.toMatchObject({ code: 'interlock', message });
    });

    it('takes nothing but a day or more for an age', async () => {
      for (const olderThan of ['400', '23h', '400m', '-1d', '', 'a year', '1d2h', '0.9d']) {
        const message = `Purging: --older-than must be a duration of at least a day, with its unit, such as 400d, found ${JSON.stringify(olderThan)}.`;
        const asked = purgeCommand(env, { olderThan, dryRun: true, json: false });
        await expect(asked, olderThan).rejects.toMatchObject({ code: 'usage', message });
      }
    });
  });
});
