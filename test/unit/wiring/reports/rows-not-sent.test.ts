import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeReport } from '../../../../src/report/write-report.ts';
import { rowsNotSent } from '../../../../src/wiring/reports/rows-not-sent.ts';
import { batchInvoice, batchOf, ledgerOf, NOON } from '../../report/batch-invoices.ts';

const HELD = { state: 'held', reason: { code: 'batch-cancelled', message: 'Its prices are wrong.' } } as const;

it('are those of the lost report, also after reconciliation has put another one in its place', async () => {
  const reportsDir = await mkdtemp(join(tmpdir(), 'lote-rows-not-sent-'));
  onTestFinished(() => rm(reportsDir, { recursive: true, force: true }));
  const invoices = [batchInvoice({ rows: [2] }), batchInvoice({ rows: [3, 4], ...HELD })];
  const batch = batchOf(invoices);
  const { batchId } = batch;
  const write = () => writeReport({ ledger: ledgerOf(batch, invoices), batchId, reportsDir, now: NOON });

  await write();
  expect(await rowsNotSent(reportsDir, { batchId, revision: 1 }), 'the ledger knows it').toEqual([]);
  expect(await rowsNotSent(reportsDir, { batchId, revision: 0 })).toEqual([3]);

  await write();
  expect(await rowsNotSent(reportsDir, { batchId, revision: 1 }), 'by a restored ledger').toEqual([3]);
});
