import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
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

    // The page of a refused file has a form of its own; the one of `write-report.test.ts` stands for all others.
    if (name === 'refused') await expect(html).toMatchFileSnapshot(join(GOLDEN, name, 'report.html'));
    for (const { ref } of (JSON.parse(json) as { readonly invoices: readonly { readonly ref: string }[] }).invoices)
      expect(html).toContain(ref);
    await expect(csv).toMatchFileSnapshot(join(GOLDEN, name, 'report.csv'));
    await expect(json).toMatchFileSnapshot(join(GOLDEN, name, 'report.json'));
  });
});
