import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ReportOrigin } from '../../../../src/report/report-model.ts';
import { writeReport } from '../../../../src/report/write-report.ts';
import { lostBatches } from '../../../../src/wiring/reports/lost-batches.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { batchInvoice, batchOf, ledgerOf, NOON } from '../../report/batch-invoices.ts';

const OWN = { ledger: 'lgr_1', account: '0123456789abcdef' };
const DAY_MS = 24 * 3_600_000;

/** A reports folder with a report of each given origin, and a ledger that knows some of the batches. */
async function reportsOf(
  origins: Readonly<Record<string, ReportOrigin & { application?: string; state?: 'refused' }>>,
) {
  const reportsDir = await temporaryDirectory();
  for (const [batchId, { application = 'default', state = 'finished', ...origin }] of Object.entries(origins)) {
    const invoices = state === 'refused' ? [] : [batchInvoice()];
    const batch = {
      ...batchOf(invoices),
      batchId,
      application,
      state,
      sha256: `bytes of ${batchId}`,
      file: `"${batchId}".csv`,
    } as const;
    await writeReport({ ledger: ledgerOf(batch, invoices), batchId, reportsDir, now: NOON, origin });
  }
  const found = async (known: readonly string[] = [], since = 0, knownAs: 'finished' | 'refused' = 'finished') => {
    const batchOfFile = (application: string, sha256: string) =>
      Promise.resolve(
        known.includes(sha256) ? { ...batchOf([batchInvoice()]), application, sha256, state: knownAs } : null,
      );
    const parts = { reportsDir, ledger: { id: 'lgr_1', batchOfFile }, application: 'default', account: OWN.account };
    return lostBatches({ ...parts, since });
  };
  const lost = async (...asked: Parameters<typeof found>) => (await found(...asked)).lost;
  return { reportsDir, found, lost };
}

describe('lost batches', () => {
  it('are those of this ledger or this account that the ledger does not know, with the names of their files', async () => {
    const { lost } = await reportsOf({
      'batch-known': OWN,
      'batch-own': OWN,
      'batch-own-elsewhere': { ledger: 'lgr_1', account: 'fedcba9876543210' },
      'batch-of-the-lost-directory': { ledger: 'lgr_2', account: OWN.account },
      'batch-tried': { ledger: 'lgr_2', account: null },
      'batch-of-another-application': { ...OWN, application: 'other' },
      'batch-refused': { ...OWN, state: 'refused' },
    });

    expect(await lost(['bytes of batch-known'])).toEqual([
      { batchId: 'batch-of-the-lost-directory', file: '"batch-of-the-lost-directory".csv' },
      { batchId: 'batch-own', file: '"batch-own".csv' },
      { batchId: 'batch-own-elsewhere', file: '"batch-own-elsewhere".csv' },
    ]);
  });

  it('are no batches whose report was written before the time that the ledger lacks, and nothing else that lies there', async () => {
    const { reportsDir, lost } = await reportsOf({ 'batch-old': OWN, 'batch-late-clock': OWN, 'batch-new': OWN });
    const since = Date.now() - DAY_MS / 2;
    const written = (batchId: string, at: number) =>
      utimes(join(reportsDir, batchId, 'report.json'), at / 1_000, at / 1_000);
    await written('batch-old', since - DAY_MS / 2);
    await written('batch-late-clock', since - DAY_MS / 48);
    await mkdir(join(reportsDir, 'nights'));
    await writeFile(join(reportsDir, 'notes.txt'), '');

    expect((await lost([], since)).map(({ batchId }) => batchId)).toEqual(['batch-late-clock', 'batch-new']);
  });

  it('are none where the reports folder is not there', async () => {
    const { reportsDir, lost } = await reportsOf({});
    await rm(reportsDir, { recursive: true });
    expect(await lost()).toEqual([]);
  });

  it('are those whose files were refused when they were run again, also once that has a report of its own', async () => {
    const { reportsDir, lost } = await reportsOf({ 'batch-again': OWN });
    const refused = {
      ...batchOf([]),
      batchId: 'batch-again',
      state: 'refused' as const,
      sha256: 'bytes of batch-again',
    };
    const again = [{ batchId: 'batch-again', file: '"batch-again".csv' }];

    expect(await lost(['bytes of batch-again'], 0, 'refused')).toEqual(again);
    await writeReport({ ledger: ledgerOf(refused, []), batchId: 'batch-again', reportsDir, now: NOON, origin: OWN });
    expect(await lost(['bytes of batch-again'], 0, 'refused')).toEqual(again);
    expect(await lost(['bytes of batch-again'])).toEqual([]);
  });

  /** Unreadable for everybody, also for the user whom no right stops: a link to itself (`ELOOP`). */
  async function unreadable(...path: readonly string[]): Promise<void> {
    await symlink('report.json', join(...path, 'report.json'));
  }

  it('are told beside the folders of batches that cannot be read, and no other folder stands in the way', async () => {
    const { reportsDir, found } = await reportsOf({ 'batch-own': OWN });
    for (const name of ['lost+found', 'batch-march-2-0a1b2c3d', 'office-batch-march-00000000']) {
      await mkdir(join(reportsDir, name));
      await unreadable(reportsDir, name);
    }
    await mkdir(join(reportsDir, 'batch-kept-0a1b2c3d', 'before-restore-2026'), { recursive: true });
    await unreadable(reportsDir, 'batch-kept-0a1b2c3d', 'before-restore-2026');

    expect(await found()).toEqual({
      lost: [{ batchId: 'batch-own', file: '"batch-own".csv' }],
      unread: [
        { name: 'batch-kept-0a1b2c3d', code: 'ELOOP' },
        { name: 'batch-march-2-0a1b2c3d', code: 'ELOOP' },
        { name: 'office-batch-march-00000000', code: 'ELOOP' },
      ],
    });
  });
});
