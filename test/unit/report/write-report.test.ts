import { mkdir, readdir, readFile, rm, utimes, writeFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import type { OriginalFile } from '../../../src/report/corrections/original-file.ts';
import { writeReport } from '../../../src/report/write-report.ts';
import { chooseLanguage, ENGLISH, type Speech } from '../../../src/texts/languages.ts';
import type { ReportLedger } from '../../../src/report/write-report.ts';
import {
  batchInvoice,
  batchOf,
  countsOf,
  ledgerOf,
  NOON,
  portionsOf,
  unsentInvoice,
  finding,
} from './batch-invoices.ts';
import { SAMPLE_BATCH, SAMPLE_FINDINGS, SAMPLE_INVOICES, sampleOriginal, sampleSheet } from './sample-batch.ts';
import type { BatchInvoice } from '../../../src/domain/records/batch-record.ts';

const GOLDEN = new URL('../../golden/report/', import.meta.url).pathname;
const NOW = NOON + 120_000;
const NO = { code: 'no', message: 'No.' };

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

function writeSample(original: OriginalFile = sampleOriginal(), speech: Speech = ENGLISH) {
  const ledger = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES, { fileFindings: async () => SAMPLE_FINDINGS });
  const { batchId } = SAMPLE_BATCH;
  return writeReport({ ledger, batchId, reportsDir, original, decimalMark: ',', speech, now: NOW });
}

function write(invoices: readonly BatchInvoice[], original?: OriginalFile) {
  const batch = batchOf(invoices);
  return writeReport({
    ledger: ledgerOf(batch, invoices),
    batchId: batch.batchId,
    reportsDir,
    now: NOW,
    ...(original === undefined ? {} : { original }),
  });
}

/** The report on the sample, as this ledger has it. */
function writeFrom(ledger: ReportLedger, now = NOW) {
  return writeReport({ ledger, batchId: SAMPLE_BATCH.batchId, reportsDir, now });
}

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
    const written = await writeSample(sampleOriginal(), chooseLanguage(language));

    const html = await readFile(written.html, 'utf8');
    for (const word of [`<html lang="${language.slice(0, 2)}">`, ...words, 'inv_1']) expect(html).toContain(word);
    await expect(await readFile(written.json, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.json'));
    await expect(await readFile(written.csv, 'utf8')).toMatchFileSnapshot(join(GOLDEN, 'report.csv'));
  });

  it('leaves the four files and nothing else', async () => {
    const written = await writeSample();

    const names = await readdir(join(reportsDir, SAMPLE_BATCH.batchId));
    expect(names.sort().join(' ')).toBe('corrections.csv report.csv report.html report.json');
    expect(written).toMatchObject({
      corrections: expect.stringMatching(/corrections\.csv$/u) as string,
      summary: { invoices: 10, rows: 14, rowsWithoutInvoice: 2 },
    });
  });

  it('writes for its account and its group: reports hold names and tax numbers', async () => {
    const { json, csv, html, corrections } = await writeSample();

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
    const names = await readdir(join(reportsDir, SAMPLE_BATCH.batchId));
    const unfit = await write(failed, sampleSheet('a/b'));

    expect([fit.corrections, again.corrections]).toEqual([
      expect.stringMatching(/corrections\.xlsx$/u),
      expect.stringMatching(/corrections\.xlsx$/u),
    ]);
    expect(page).toContain('holds every row that the back office can correct, with the reason at its end');
    expect(names.filter((name) => name.startsWith('corrections'))).toEqual(['corrections.xlsx']);
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
    expect(await readdir(join(reportsDir, SAMPLE_BATCH.batchId))).toHaveLength(3);
  });

  it('writes the report of a refused file with its reasons first', async () => {
    const batch = batchOf([], { state: 'refused', rows: 3 });
    const found = finding(1, 'nif', 'header-twice', 'Column nif stands twice.');
    const ledger = ledgerOf(batch, [], { fileFindings: async () => [found] });

    const { batchId } = batch;
    const written = await writeReport({ ledger, batchId, reportsDir, original: sampleOriginal(), now: NOW });

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
    const ledger = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES, { fileFindings: async () => SAMPLE_FINDINGS });

    await writeFrom(ledger);
    const written = await writeFrom(ledger);

    expect(await readJson(written.json)).toMatchObject({ batch: { revision: 2 } });
    expect(await readFile(written.html, 'utf8')).toContain('Report 2,');
  });

  it('keeps the report that a restored ledger does not know: only that one tells what was sent after the copy', async () => {
    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    const { json } = await writeFrom(ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES));
    const said = await readFile(json, 'utf8');
    await utimes(json, NOW / 1000, NOW / 1000);

    const restored = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES);
    for (const _ of ['once', 'twice']) await writeFrom(restored, NOW + 1);

    const kept = (await readdir(directory)).filter((name) => name.startsWith('before-restore'));
    expect(kept).toEqual([`before-restore-${new Date(NOW).toISOString().replaceAll(':', '-')}`]);
    const names = await readdir(join(directory, kept[0] ?? ''));
    expect(names.toSorted()).toEqual(['report.csv', 'report.html', 'report.json']);
    expect(await readFile(join(directory, kept[0] ?? '', 'report.json'), 'utf8')).toBe(said);
  });

  it('keeps it also where an attempt before took the revision of that report, and died', async () => {
    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    await writeFrom(ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES));

    const restored = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES);
    const dies = { ...restored, fileFindings: () => Promise.reject(new Error('killed')) };
    await expect(writeFrom(dies)).rejects.toThrow('killed');
    await writeFrom(restored);

    expect((await readdir(directory)).filter((name) => name.startsWith('before-restore'))).toHaveLength(1);
  });

  it('goes on after an attempt that had kept that report and put nothing in place', async () => {
    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    const writerOf = (ledger = ledgerOf(SAMPLE_BATCH, SAMPLE_INVOICES)) => {
      const place = { ledger, batchId: SAMPLE_BATCH.batchId, reportsDir, now: NOW };
      return () => writeReport({ ...place, original: sampleOriginal() });
    };
    const before = writerOf();
    for (const _ of [1, 2, 3]) await before();
    const inTheWay = join(directory, 'corrections.csv');
    await rm(inTheWay);
    await mkdir(inTheWay);
    const restored = writerOf();
    await expect(restored()).rejects.toThrow('EISDIR');
    await rm(inTheWay, { recursive: true });

    const written = await restored();

    expect(await readJson(written.json)).toMatchObject({ batch: { revision: 2 } });
    expect((await readdir(directory)).filter((name) => name.startsWith('before-restore'))).toHaveLength(1);
  });

  it('sets a corrections file with other content aside, because a person may be correcting it', async () => {
    const { corrections } = await writeSample();
    await writeFile(corrections ?? '', 'half corrected by hand');

    await writeSample();

    const names = await readdir(join(reportsDir, SAMPLE_BATCH.batchId));
    expect(names).toContain('corrections-replaced-by-1.csv');
    expect(await readFile(join(reportsDir, SAMPLE_BATCH.batchId, 'corrections-replaced-by-1.csv'), 'utf8')).toBe(
      'half corrected by hand',
    );
  });

  it('sets it aside beside the one of a report of the same number that a restored ledger does not know', async () => {
    const { corrections } = await writeSample();
    for (const text of ['corrected before the restore', 'corrected after it']) {
      await writeFile(corrections ?? '', text);
      await writeSample();
    }

    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    const aside = (await readdir(directory)).filter((name) => name.startsWith('corrections-replaced-by-'));
    expect(await Promise.all(aside.toSorted().map((name) => readFile(join(directory, name), 'utf8')))).toEqual([
      'corrected after it',
      'corrected before the restore',
    ]);
  });

  it('keeps no corrections under the name once nothing has to be corrected', async () => {
    await write([batchInvoice({ rows: [2], state: 'failed', reason: NO })], sampleOriginal());

    await write([batchInvoice({ rows: [2] })], sampleOriginal());

    expect(await readdir(join(reportsDir, SAMPLE_BATCH.batchId))).not.toContain('corrections.csv');
  });

  it('reads again when an invoice of a closed batch moved between counting and reading', async () => {
    const before = [batchInvoice({ state: 'unsettled', reason: { code: 'silent', message: 'Silent.' } })];
    const after = [batchInvoice()];
    const counts = [countsOf(before), countsOf(after)];
    const batch = batchOf(after);
    const ledger = ledgerOf(batch, after, { countOutcomes: async () => counts.shift() ?? [] });

    const written = await writeReport({ ledger, batchId: batch.batchId, reportsDir, now: NOW });

    expect(written.summary).toMatchObject({ issued: 1, unsettled: 0 });
  });

  it('leaves the earlier report as it was when the new one does not balance', async () => {
    const first = await writeSample();
    const before = await readFile(first.json, 'utf8');
    const batch = { ...SAMPLE_BATCH, invoices: 11, revision: 1 };
    const ledger = ledgerOf(batch, SAMPLE_INVOICES);

    const attempt = writeReport({ ledger, batchId: batch.batchId, reportsDir, now: NOW });

    await expect(attempt).rejects.toMatchObject({ code: 'report-unbalanced' });
    expect(await readFile(first.json, 'utf8')).toBe(before);
    expect(await readdir(join(reportsDir, batch.batchId))).toHaveLength(4);
  });

  it('passes the ledger failure on and leaves no half-written file', async () => {
    const batch = batchOf([batchInvoice()]);
    const ledger = ledgerOf(batch, [], {
      async *batchInvoices() {
        yield* portionsOf([batchInvoice()]);
        throw new Error('connection lost');
      },
    });

    await expect(writeReport({ ledger, batchId: batch.batchId, reportsDir, now: NOW })).rejects.toThrow(
      'connection lost',
    );
    expect(await readdir(join(reportsDir, batch.batchId))).toEqual([]);
  });

  it('removes what a killed process left, and not what a living one is writing', async () => {
    const directory = join(reportsDir, SAMPLE_BATCH.batchId);
    await mkdir(join(directory, '.writing-old'), { recursive: true });
    await mkdir(join(directory, '.writing-new'));
    await utimes(join(directory, '.writing-old'), (NOW - 2 * 3_600_000) / 1000, (NOW - 2 * 3_600_000) / 1000);
    await utimes(join(directory, '.writing-new'), NOW / 1000, NOW / 1000);

    await writeSample();

    const left = (await readdir(directory)).filter((name) => name.startsWith('.writing-'));
    expect(left).toEqual(['.writing-new']);
  });
});

describe('writeReport refuses', () => {
  it.each(['../outside', 'a/b', '..', '.', '', 'a\u0000b', '.hidden'])('the batch id %j', async (batchId) => {
    const ledger = ledgerOf(batchOf([], { batchId }), []);

    await expect(writeReport({ ledger, batchId, reportsDir, now: NOW })).rejects.toMatchObject({
      code: 'batch-not-found',
    });
  });

  it('a batch that the ledger does not know', async () => {
    const ledger = ledgerOf(SAMPLE_BATCH, []);

    await expect(writeReport({ ledger, batchId: 'other', reportsDir, now: NOW })).rejects.toMatchObject({
      code: 'batch-not-found',
    });
  });
});

describe('a report of 30,000 invoices', () => {
  it('balances, is read from the ledger once, and holds all: the data each of them, the page the first in folds', async () => {
    const invoices = Array.from({ length: 30_000 }, (_, index) => batchInvoice({ ordinal: index + 1 }));
    const batch = batchOf(invoices);
    let readings = 0;
    const ledger = ledgerOf(batch, invoices, {
      batchInvoices() {
        readings += 1;
        return portionsOf(invoices, 1000);
      },
    });

    const written = await writeReport({ ledger, batchId: batch.batchId, reportsDir, now: NOW });

    const page = await readFile(written.html, 'utf8');
    expect(readings).toBe(1);
    expect(page.match(/<details/gu)).toHaveLength(5);
    expect(page.match(/<details open/gu)).toHaveLength(1);
    expect(page.match(/>F-\d+</gu)).toHaveLength(5_000);
    expect(page.replaceAll('\u202F', ' ')).toContain('Only the first 5 000 of 30 000 stand on this page');
    expect((await readJson(written.json))['invoices']).toHaveLength(30_000);
    expect((await readFile(written.csv, 'utf8')).match(/;F-\d+;/gu)).toHaveLength(30_000);
  });
});
