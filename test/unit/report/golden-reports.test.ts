import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'csv-parse/sync';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { sumDecimals } from '../../../src/domain/money.ts';
import type { ReportInvoice, ReportModel } from '../../../src/report/report-model.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { ledgerOf, NOON } from './batch-invoices.ts';
import { REPORT_CASES } from './report-cases.ts';

const GOLDEN = new URL('../../golden/report/', import.meta.url).pathname;
const NOW = NOON + 120_000;
const names = Object.keys(REPORT_CASES);

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

async function write(name: string) {
  const { batch, invoices, findings = [], notes = [], history } = REPORT_CASES[name] ?? expect.fail(`no case ${name}`);
  const written = await writeReport({
    ledger: ledgerOf(batch, invoices, { fileFindings: async () => findings }),
    batchId: batch.batchId,
    ...{ reportsDir, notes, now: NOW },
    ...(history === undefined ? {} : { history }),
  });
  const [html, csv, json] = await Promise.all(
    [written.html, written.csv, written.json].map((path) => readFile(path, 'utf8')),
  );
  return { html: html ?? '', csv: csv ?? '', json: json ?? '' };
}

describe.each(names)('the report of a batch that is %s', (name) => {
  it('is what the golden files hold', async () => {
    const { html, csv, json } = await write(name);

    await expect(html).toMatchFileSnapshot(join(GOLDEN, name, 'report.html'));
    await expect(csv).toMatchFileSnapshot(join(GOLDEN, name, 'report.csv'));
    await expect(json).toMatchFileSnapshot(join(GOLDEN, name, 'report.json'));
  });

  it('balances: states add up to invoices, rows to rows, and each currency to its total', async () => {
    const { csv, json } = await write(name);
    const report = JSON.parse(json) as Omit<ReportModel, 'counts'> & {
      readonly counts: Readonly<Record<string, number>>;
      readonly invoices: readonly ReportInvoice[];
    };
    const { rows, rowsWithoutInvoice, rowsLost, invoices, ...states } = report.counts;

    expect(rowsLost).toBeLessThanOrEqual(rowsWithoutInvoice ?? 0);
    expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(invoices);
    expect(report.invoices.flatMap((invoice) => invoice.rows).length + (rowsWithoutInvoice ?? 0)).toBe(rows);
    for (const { currency, net, byState } of report.totals) {
      const listed = report.invoices
        .filter((invoice) => invoice.currency === currency)
        .map((invoice) => invoice.net ?? '0');
      expect(sumDecimals(listed)).toBe(net);
      expect(sumDecimals(Object.values(byState))).toBe(net);
    }
    const records = parse(csv.slice(csv.indexOf('\n') + 1), { delimiter: ';', columns: true });
    expect(records).toHaveLength(report.invoices.length);
  });
});
