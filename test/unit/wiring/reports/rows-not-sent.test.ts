import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { BatchInvoice } from '../../../../src/domain/ports/ledger/batch-record.ts';
import type { ReportOrigin } from '../../../../src/report/report-model.ts';
import { writeReport } from '../../../../src/report/write-report.ts';
import { createLostReports } from '../../../../src/wiring/reports/rows-not-sent.ts';
import { batchInvoice, batchOf, ledgerOf, NOON } from '../../report/batch-invoices.ts';

const HELD = { state: 'held', reason: { code: 'batch-cancelled', message: 'Its prices are wrong.' } } as const;
const REFUSED = { state: 'rejected', reason: { code: 'tax-code', message: 'HTTP 422' } } as const;
const FAILED = { state: 'failed', reason: { code: 'no-series', message: 'No series.' } } as const;
const RETENTION_MS = 24 * 3_600_000;
const LEDGER = 'lgr_1';
const ACCOUNT = '0123456789abcdef';

/** A report of an issued, a held and a refused invoice, and a ledger that has given out so many revisions of it. */
async function lostReport(origin?: ReportOrigin, failed: readonly Partial<BatchInvoice>[] = []) {
  const reportsDir = await mkdtemp(join(tmpdir(), 'lote-rows-not-sent-'));
  onTestFinished(() => rm(reportsDir, { recursive: true, force: true }));
  const invoices = [
    batchInvoice({ ordinal: 1, rows: [2] }),
    batchInvoice({ ordinal: 2, rows: [3, 4], ...HELD }),
    batchInvoice({ ordinal: 3, rows: [5], ...REFUSED }),
    ...failed.map((one, at) => batchInvoice({ ordinal: 4 + at, rows: [6 + at], ...FAILED, ...one })),
  ];
  const batch = batchOf(invoices);
  const { batchId } = batch;
  const said = origin === undefined ? {} : { origin };
  const write = () => writeReport({ ledger: ledgerOf(batch, invoices), batchId, reportsDir, now: NOON, ...said });
  await write();
  const rowsOf = (revision: number, account: string | null = ACCOUNT, now = NOON, retriedCodes: string[] = []) => {
    const ledger = { id: LEDGER, findBatch: () => Promise.resolve({ ...batch, revision }) };
    const parts = { reportsDir, ledger, account, retentionMs: RETENTION_MS, retriedCodes, latestNow: () => now };
    return createLostReports(parts)(batchId);
  };
  const knows = async (...place: Parameters<typeof rowsOf>) => (await rowsOf(...place)).firstRows;
  /** Asked for a batch that the ledger knows, and no other one. */
  const rowsAs = (known: typeof batch) => {
    const findBatch = (id: string) => Promise.resolve(id === known.batchId ? known : null);
    const parts = { reportsDir, account: ACCOUNT, retentionMs: RETENTION_MS, retriedCodes: [], latestNow: () => NOON };
    return createLostReports({ ...parts, ledger: { id: LEDGER, findBatch } })(known.batchId);
  };
  return { json: join(reportsDir, batchId, 'report.json'), batch, write, knows, rowsOf, rowsAs };
}

describe('rows that lost reports keep from being sent', () => {
  it('are those of the lost report, also after reconciliation has put another one in its place', async () => {
    const { write, knows } = await lostReport();

    expect(await knows(1), 'the ledger knows it').toEqual([]);
    expect(await knows(0)).toEqual([3, 5]);

    await write();
    expect(await knows(1), 'by a restored ledger').toEqual([3, 5]);
  });

  it('are those that failed once the service may have forgotten their first key, for they may have been corrected', async () => {
    const sentAt = NOON - 3_600_000;
    const { knows } = await lostReport(undefined, [
      { sentAt, generation: 1 },
      { sentAt, generation: 2 },
      { sentAt: null, generation: 1 },
    ]);

    expect(await knows(0, ACCOUNT, sentAt + RETENTION_MS - 1)).toEqual([3, 5, 7, 8]);
    expect(await knows(0, ACCOUNT, sentAt + RETENTION_MS)).toEqual([3, 5, 6, 7, 8]);
  });

  it('are those that failed as the policy of the profile would send them again: it did not then', async () => {
    const { knows } = await lostReport(undefined, [{ sentAt: NOON - 3_600_000, generation: 1 }]);

    expect(await knows(0, ACCOUNT, NOON, ['no-stock'])).toEqual([3, 5]);
    expect(await knows(0, ACCOUNT, NOON, ['no-series'])).toEqual([3, 5, 6]);
  });

  it.each(['issued', 'already-issued', 'accepted', 'unsettled', 'unknown', 'sending'] as const)(
    'are those that were %s, once the service may have forgotten their key: sent again, they would be a second document',
    async (state) => {
      const sentAt = NOON - 3_600_000;
      const reason = { code: 'because', message: 'No final word.' };
      const { knows } = await lostReport(undefined, [
        { state, reason, sentAt },
        { state, reason, sentAt: null },
      ]);

      expect(await knows(0, ACCOUNT, sentAt + RETENTION_MS - 1), 'its key brings its document').toEqual([3, 5, 7]);
      expect(await knows(0, ACCOUNT, sentAt + RETENTION_MS)).toEqual([3, 5, 6, 7]);
      expect(await knows(1, ACCOUNT, sentAt + RETENTION_MS), 'the ledger knows it').toEqual([]);
    },
  );

  it('are told from those that were sent again with a new key', async () => {
    const { batch, rowsOf } = await lostReport(undefined, [
      { state: 'issued', reason: null, generation: 2 },
      { state: 'unknown', generation: 3 },
      { state: 'issued', reason: null, generation: 1 },
    ]);

    expect(await rowsOf(0)).toMatchObject({
      folders: [batch.batchId],
      firstRows: [3, 5],
      sentAgain: [
        { firstRow: 6, generation: 2 },
        { firstRow: 7, generation: 3 },
      ],
    });
  });

  it.each([
    ['another ledger wrote for a test account', { ledger: 'lgr_2', account: 'fedcba9876543210' }, []],
    ['another ledger wrote for the built-in sandbox', { ledger: 'lgr_2', account: null }, []],
    ['another ledger wrote for this account', { ledger: 'lgr_2', account: ACCOUNT }, [3, 5]],
    ['this ledger wrote before its account had a new address', { ledger: LEDGER, account: 'fedcba9876543210' }, [3, 5]],
  ])('of a report that %s', async (_, origin, rows) => {
    const { knows } = await lostReport(origin);
    expect(await knows(0)).toEqual(rows);
  });

  it('are none for the built-in sandbox, whose documents go with its ledger', async () => {
    const { knows } = await lostReport({ ledger: 'lgr_2', account: null });
    expect(await knows(0, null)).toEqual([]);
  });

  it.each([
    ['cut off', (text: string) => text.slice(0, -400), 'no whole JSON document'],
    ['empty', () => '', 'an empty file'],
    ['no JSON', () => '<html></html>', '13 characters that are no whole JSON document'],
    ['of another form', (text: string) => text.replace('"rows": [', '"rows": "'), 'no whole JSON document'],
    ['without its invoices', (text: string) => JSON.stringify({ ...JSON.parse(text), invoices: 1 }), '(invoices)'],
  ])(
    'are not guessed where the lost report is %s: it is named, with what was found and what to do',
    async (_, damage, found) => {
      const { json, knows } = await lostReport();
      await writeFile(json, damage(await readFile(json, 'utf8')));

      const error = await knows(0).catch((thrown: unknown) => thrown as Error);
      expect(error).toMatchObject({ code: 'folder-unusable' });
      expect(String(error)).toContain(json);
      expect(String(error)).toContain(found);
      expect(String(error)).toContain('Put the report back from a copy');
    },
  );

  it('are waited for where the folder of the batch cannot be read', async () => {
    const { json, knows } = await lostReport();
    await rm(dirname(json), { recursive: true });
    await writeFile(dirname(json), 'no folder');
    await expect(knows(0)).rejects.toMatchObject({ code: 'folder-unusable' });
  });

  it('are none where a report that the ledger wrote is damaged: it is written again', async () => {
    const { json, knows } = await lostReport();
    await writeFile(json, '');
    expect(await knows(1)).toEqual([]);
  });

  it('are those of the same file under another name, as its archive gave it, but not of other bytes or another application', async () => {
    const lost = await lostReport();
    const { batchId, sha256, application } = lost.batch;
    const renamed = `batch-march-2-${batchId.slice(-8)}`;
    const rowsOf = (said: Partial<typeof lost.batch>, id = renamed) =>
      lost.rowsAs({ ...lost.batch, batchId: id, revision: 0, ...said });
    const knows = async (...asked: Parameters<typeof rowsOf>) => (await rowsOf(...asked)).firstRows;

    expect(await rowsOf({}), 'the folder to look into is that of the first name').toMatchObject({
      firstRows: [3, 5],
      folders: [batchId],
    });
    expect(await knows({ sha256: `${sha256.slice(0, 8)}${'0'.repeat(56)}` })).toEqual([]);
    expect(await knows({ application: `${application}-2` })).toEqual([]);
    expect(await knows({}, 'batch-march-2-00000000')).toEqual([]);
  });
});
