import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, utimes, writeFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import type { OriginalFile } from '../../../src/report/corrections/original-file.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { writeSynced } from '../../../src/report/write-synced.ts';
import { chooseLanguage } from '../../../src/texts/languages.ts';
import type { ReportLedger, WriteReport } from '../../../src/report/write-report.ts';
import { batchInvoice, batchOf, finding, ledgerOf, NOON, portionsOf } from './batch-invoices.ts';
import { unsentInvoice } from './batch-invoices.ts';
import { SAMPLE_BATCH, SAMPLE_FINDINGS, SAMPLE_INVOICES, sampleOriginal, sampleSheet } from './sample-batch.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';

const GOLDEN = new URL('../../golden/report/', import.meta.url).pathname;
const NOW = NOON + 120_000;
const NO = { code: 'no', message: 'No.' };

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

const sampleLedger = () => ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES, { fileFindings: async () => SAMPLE_FINDINGS });

/** The report of a batch with the id of the sample, as this ledger has it. */
function writeFrom(ledger: ReportLedger, given: Partial<WriteReport> = {}) {
  return writeReport({ ledger, batchId: SAMPLE_BATCH.batchId, reportsDir, now: NOW, ...given });
}

function writeSample(given: Partial<WriteReport> = {}) {
  return writeFrom(sampleLedger(), { original: sampleOriginal(), decimalMark: ',', ...given });
}

function write(invoices: readonly BatchInvoice[], original?: OriginalFile) {
  return writeFrom(ledgerOf(batchOf(invoices), invoices), original === undefined ? {} : { original });
}

/** Names in the folder of the report that begin so. */
async function namesOf(start = ''): Promise<readonly string[]> {
  const names = await readdir(join(reportsDir, SAMPLE_BATCH.batchId));
  return names.filter((name) => name.startsWith(start)).toSorted();
}

/** The text of a file of the report. */
const textOf = (name: string) => readFile(join(reportsDir, SAMPLE_BATCH.batchId, name), 'utf8');

async function readJson(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
}

describe('writeReport', () => {
  it('writes what the golden files hold', async () => {
    const written = await writeSample();

    await expect(await readFile(written.json, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.json'));
    await expect(await readFile(written.csv, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.csv'));
    await expect(await readFile(written.html, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.html'));
    await expect(await readFile(written.corrections ?? '', 'latin1')).toMatchFileSnapshot(
      join(GOLDEN, 'corrections.csv'),
    );
  });

  it.each([
    ['pt-PT', 'relatório do lote', 'A fazer por um operador do Lote', 'Totais', 'Faturas sem emissão confirmada (7)'],
    [
      'es-ES',
      'informe del lote',
      'Por hacer por un operador de Lote',
      'Totales',
      'Facturas sin emisión confirmada (7)',
    ],
  ])('writes report.html for readers of %s, and the same for programs', async (language, ...words) => {
    const written = await writeSample({ speech: chooseLanguage(language) });

    const html = await readFile(written.html, 'utf8');
    for (const word of [`<html lang="${language.slice(0, 2)}">`, ...words, 'inv_1']) expect(html).toContain(word);
    await expect(await readFile(written.json, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.json'));
    await expect(await readFile(written.csv, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.csv'));
  });

  it('leaves the four files alone, for its account and its group: reports hold names and tax numbers', async () => {
    const { json, csv, html, corrections, summary } = await writeSample();

    expect(await namesOf()).toEqual(['corrections.csv', 'report.csv', 'report.html', 'report.json']);
    expect(basename(corrections ?? '')).toBe('corrections.csv');
    expect(summary).toMatchObject({ invoices: 10, rows: 14, rowsWithoutInvoice: 2 });
    for (const path of [json, csv, html, corrections ?? '']) expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect((await stat(join(reportsDir, SAMPLE_BATCH.batchId))).mode & 0o777).toBe(0o750);
  });

  it('writes no corrections when everything went out, or when the original is not there', async () => {
    expect((await write([batchInvoice()], sampleOriginal())).corrections).toBeNull();
    expect((await write([batchInvoice({ state: 'failed', reason: NO })])).corrections).toBeNull();
  });

  it.each([
    ['html', 'csv'],
    ['xlsx', 'csv'],
    ['TSV', 'tsv'],
    ['txt', 'txt'],
  ])('writes the corrections of a table in a file .%s as .%s: a file never becomes a page', async (extension, own) => {
    const failed = batchInvoice({ state: 'failed', reason: NO });
    const original = sampleOriginal();
    if (original.kind !== 'csv') throw new Error('The sample is a table.');

    const { corrections } = await write([failed], { ...original, extension });

    expect(basename(corrections ?? '')).toBe(`corrections.${own}`);
  });

  it('writes the corrections of a workbook as one, and says why where it cannot be one', async () => {
    const failed = [batchInvoice({ rows: [2], state: 'failed', reason: NO })];

    const fit = await write(failed, sampleSheet('Sheet1'));
    const page = await readFile(fit.html, 'utf8');
    const again = await write(failed, sampleSheet('Sheet1'));
    const names = await namesOf('corrections');
    const unfit = await write(failed, sampleSheet('a/b'));

    for (const { corrections } of [fit, again]) expect(basename(corrections ?? '')).toBe('corrections.xlsx');
    expect(page).toContain('holds every row that the back office can correct, with the reason at its end');
    expect(names).toEqual(['corrections.xlsx']);
    expect(unfit.corrections).toBeNull();
    expect(await readJson(unfit.json)).toMatchObject({
      notes: [expect.stringContaining('no workbook can hold it: Excel cannot have a sheet of that name')],
    });
  });

  it('writes the report without corrections, and says so, when the original was changed', async () => {
    const gone = unsentInvoice({ rows: [2, 99], state: 'invalid', reason: { code: 'bad', message: 'Bad.' } });

    const written = await write([gone], sampleOriginal());

    expect(written.corrections).toBeNull();
    expect(await readJson(written.json)).toMatchObject({ notes: [expect.stringContaining('no corrections file')] });
    expect(await namesOf()).toHaveLength(3);
  });

  it('writes the report of a refused file with its reasons first', async () => {
    const batch = batchOf([], { state: 'refused', rows: 3 });
    const found = finding(1, 'nif', 'header-twice', 'Column nif stands twice.');
    const ledger = ledgerOf(batch, [], { fileFindings: async () => [found] });

    const written = await writeFrom(ledger, { original: sampleOriginal() });

    expect(await readJson(written.json)).toMatchObject({
      batch: { state: 'refused' },
      invoices: [],
      fileFindings: [found],
      counts: { rows: 3, invoices: 0 },
    });
    expect(await readFile(written.html, 'utf8')).toContain('The file was refused. Nothing was sent.');
    expect(written.corrections).toBeNull();
  });
});

describe('writeReport again', () => {
  it('rises the revision and replaces the report', async () => {
    const ledger = sampleLedger();

    await writeFrom(ledger);
    const written = await writeFrom(ledger);

    expect(await readJson(written.json)).toMatchObject({ batch: { revision: 2 } });
    expect(await readFile(written.html, 'utf8')).toContain('Report 2,');
  });

  it('keeps the report that a restored ledger does not know: only that one tells what was sent after the copy', async () => {
    const { json } = await writeFrom(sampleLedger());
    const said = await readFile(json, 'utf8');
    await utimes(json, NOW / 1000, NOW / 1000);

    const restored = sampleLedger();
    for (const _ of ['once', 'twice']) await writeFrom(restored, { now: NOW + 1 });

    const kept = `before-restore-${new Date(NOW).toISOString().replaceAll(':', '-')}`;
    expect(await namesOf('before-restore')).toEqual([kept]);
    const names = await readdir(join(dirname(json), kept));
    expect(names.toSorted()).toEqual(['report.csv', 'report.html', 'report.json']);
    expect(await textOf(join(kept, 'report.json'))).toBe(said);
  });

  it('keeps it also where an attempt before took the revision of that report, and died', async () => {
    await writeFrom(sampleLedger());

    const restored = sampleLedger();
    const dies = { ...restored, fileFindings: () => Promise.reject(new Error('killed')) };
    await expect(writeFrom(dies)).rejects.toThrow('killed');
    await writeFrom(restored);

    expect(await namesOf('before-restore')).toHaveLength(1);
  });

  it('goes on after an attempt that had kept that report and put nothing in place', async () => {
    const [before, restored] = [sampleLedger(), sampleLedger()];
    for (const _ of [1, 2, 3]) await writeFrom(before, { original: sampleOriginal() });
    const inTheWay = join(reportsDir, SAMPLE_BATCH.batchId, 'corrections.csv');
    await rm(inTheWay);
    await mkdir(inTheWay);
    await expect(writeFrom(restored, { original: sampleOriginal() })).rejects.toThrow('EISDIR');
    await rm(inTheWay, { recursive: true });

    const written = await writeFrom(restored, { original: sampleOriginal() });

    expect(await readJson(written.json)).toMatchObject({ batch: { revision: 2 } });
    expect(await namesOf('before-restore')).toHaveLength(1);
  });

  it('sets a corrections file with other content aside, because a person may be correcting it', async () => {
    const { corrections } = await writeSample();
    // The second time, a restored ledger gives out the number of the first report again.
    for (const text of ['half corrected by hand', 'corrected after the restore']) {
      await writeFile(corrections ?? '', text);
      await writeSample();
    }

    const aside = await namesOf('corrections-replaced-by-');
    expect(aside).toEqual(['corrections-replaced-by-1-2.csv', 'corrections-replaced-by-1.csv']);
    expect(await Promise.all(aside.map(textOf))).toEqual(['corrected after the restore', 'half corrected by hand']);
  });

  it('keeps no corrections under the name once nothing has to be corrected', async () => {
    await write([batchInvoice({ rows: [2], state: 'failed', reason: NO })], sampleOriginal());

    await write([batchInvoice({ rows: [2] })], sampleOriginal());

    expect(await namesOf()).not.toContain('corrections.csv');
  });

  it('leaves the earlier report as it was when the new one does not balance', async () => {
    const first = await writeSample();
    const before = await readFile(first.json, 'utf8');
    const ledger = ledgerOf({ ...SAMPLE_BATCH, invoices: 11, revision: 1 }, SAMPLE_INVOICES);

    await expect(writeFrom(ledger)).rejects.toMatchObject({ code: 'report-unbalanced' });
    expect(await readFile(first.json, 'utf8')).toBe(before);
    expect(await namesOf()).toHaveLength(4);
  });

  it('passes the ledger failure on and leaves no half-written file', async () => {
    const ledger = ledgerOf(batchOf([batchInvoice()]), [], {
      async *batchInvoices() {
        yield* portionsOf([batchInvoice()]);
        throw new Error('connection lost');
      },
    });

    await expect(writeFrom(ledger)).rejects.toThrow('connection lost');
    expect(await namesOf()).toEqual([]);
  });

  it('has made the file of a failed writing before it says so, so that the caller can remove it', async () => {
    const path = join(reportsDir, 'begun');
    async function* broken(): AsyncGenerator<string> {
      yield await Promise.reject<string>(new Error('no piece'));
    }

    const failure = await writeSynced(path, broken()).catch((error: unknown) => [error, existsSync(path)]);

    expect(failure).toEqual([new Error('no piece'), true]);
    await expect(writeSynced(path, broken())).rejects.toThrow('EEXIST');
  });

  it('removes what a killed process left, and not what a living one is writing', async () => {
    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    await mkdir(join(directory, '.writing-old'), { recursive: true });
    await mkdir(join(directory, '.writing-new'));
    await utimes(join(directory, '.writing-old'), (NOW - 2 * 3_600_000) / 1000, (NOW - 2 * 3_600_000) / 1000);
    await utimes(join(directory, '.writing-new'), NOW / 1000, NOW / 1000);

    await writeSample();

    expect(await namesOf('.writing-')).toEqual(['.writing-new']);
  });
});

it.each(['../outside', 'a/b', '..', '.', '', 'a\u0000b', '.hidden'])(
  'writeReport refuses the batch id %j',
  async (batchId) => {
    const ledger = ledgerOf(batchOf([], { batchId }), []);

    await expect(writeFrom(ledger, { batchId })).rejects.toMatchObject({ code: 'batch-not-found' });
  },
);

it('writeReport refuses a batch that the ledger does not know', async () => {
  await expect(writeFrom(sampleLedger(), { batchId: 'other' })).rejects.toMatchObject({ code: 'batch-not-found' });
});

describe('a report of 30,000 invoices', () => {
  it('balances, is read from the ledger once, and holds all: the data each of them, the page the first', async () => {
    const invoices = Array.from({ length: 30_000 }, (_, index) => batchInvoice({ ordinal: index + 1 }));
    let readings = 0;
    const ledger = ledgerOf(batchOf(invoices), invoices, {
      batchInvoices() {
        readings += 1;
        return portionsOf(invoices, 1000);
      },
    });

    const written = await writeFrom(ledger);

    const page = await readFile(written.html, 'utf8');
    expect(readings).toBe(1);
    expect(page.match(/>F-\d+</gu)).toHaveLength(2_000);
    expect(page.replaceAll('\u202F', ' ')).toContain('Only the first 2 000 of 30 000 stand on this page');
    expect((await readJson(written.json))['invoices']).toHaveLength(30_000);
    expect((await readFile(written.csv, 'utf8')).match(/;F-\d+;/gu)).toHaveLength(30_000);
  });
});
