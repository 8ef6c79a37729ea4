import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { createRunLog, nightlyHtml, nightlySummary } from '../../../src/nightly/run-log.ts';
import { chooseLanguage, ENGLISH } from '../../../src/texts/languages.ts';
import type { NightlyRun } from '../../../src/domain/records/dropped-file.ts';
import { nightEntry as entry, nightNamed } from './drop-place.ts';
import type { NightlyRunEntry, NightlyRunState } from '../../../src/domain/records/night.ts';

const DATE = '2026-11-21';
const START = Date.UTC(2026, 10, 21, 2);

function run(over: Partial<NightlyRunState> = {}): NightlyRunState {
  const times = { startedAt: START, finishedAt: START + 60_000 };
  return { night: `${DATE}-aaaaaaaa`, workflowId: 'nightly', ...times, files: [], waiting: [], message: null, ...over };
}

function withVerdicts(...verdicts: readonly NightlyRunEntry['verdict'][]): NightlyRunState {
  return run({ files: verdicts.map((verdict, at) => entry({ verdict, slot: `000${at + 1}` })) });
}

function page(...runs: readonly NightlyRunState[]): string {
  return nightlyHtml(nightlySummary(DATE, runs), (path) => path, ENGLISH);
}

/** What a person reads, without the tags. */
function words(text: string): string {
  return text
    .replace(/<style>[^]*<\/style>/u, '')
    .replaceAll(/<[^>]*>/gu, ' ')
    .replaceAll(/\s+/gu, ' ');
}

describe('the summary of a night', () => {
  it('counts files and invoices over all runs of the date', () => {
    const refused = entry({ verdict: 'refused', batchId: 'batch-3', invoices: 0, issued: 0 });
    const failed = entry({ verdict: 'failed', batchId: 'batch-4', invoices: 4, issued: 1 });
    const { totals } = nightlySummary(DATE, [
      run({ files: [entry(), entry({ slot: '0002', verdict: 'attention', batchId: 'batch-2', issued: 7 })] }),
      run({ startedAt: START + 1, files: [refused, failed] }),
    ]);

    const files = { files: 4, issued: 1, attention: 1, refused: 1, failed: 1, waiting: 0 };
    expect(totals).toEqual({ ...files, invoices: 24, notIssued: 6 });
  });

  it('counts the invoices of a batch once, as far as it had come, in however many runs and under however many names', () => {
    const { totals } = nightlySummary(DATE, [
      run({ files: [entry({ verdict: 'attention', issued: 4 })] }),
      run({
        startedAt: START + 1,
        files: [entry({ known: true, issued: 7, alreadyIssued: 4 }), entry({ slot: '0002', issued: 7 })],
      }),
    ]);

    expect(totals).toMatchObject({ files: 3, invoices: 10, notIssued: 3 });
  });

  it('counts a file as waiting only when the last run left it: an earlier one may have been taken since', () => {
    const waiting = [{ name: 'slow.csv', reason: 'growing' as const }];

    const taken = nightlySummary(DATE, [run({ startedAt: START + 9 }), run({ waiting })]);
    const left = nightlySummary(DATE, [run(), run({ startedAt: START + 9, waiting })]);

    expect(taken.totals.waiting).toBe(0);
    expect(left.totals.waiting).toBe(1);
    expect(taken.runs.map(({ startedAt }) => startedAt)).toEqual([START, START + 9]);
  });
});

describe('the page of a night', () => {
  const openRun = run({ finishedAt: null, files: [entry()] });
  const waits = { waiting: [{ name: 'x.csv', reason: 'empty' as const }] };

  it.each<[string, readonly NightlyRunState[], string, string]>([
    ['nothing was dropped', [run()], 'No file was dropped.', 'good'],
    ['everything went out', [withVerdicts('issued', 'issued')], 'Everything went out: 2 files.', 'good'],
    ['one of two needs attention', [withVerdicts('issued', 'attention')], '1 of 2 files needs a person.', 'open'],
    ['a file waits', [run({ files: [entry()], ...waits })], '1 of 2 files needs a person.', 'open'],
    ['a file was refused', [withVerdicts('refused', 'attention')], '2 of 2 files need a person.', 'bad'],
    ['it still works on a file', [openRun], 'This night has not ended: 1 file so far.', 'open'],
    ['a later run went on', [openRun, run({ startedAt: START + 9 })], 'Everything went out: 1 file.', 'good'],
    ['a run failed', [withVerdicts('failed')], '1 of 1 files needs a person.', 'bad'],
  ])('when %s says so first', (_, runs, sentence, tone) => {
    const text = page(...runs);

    expect(text).toContain(`<strong>${sentence}</strong>`);
    expect(text).toContain(`<section class="verdict ${tone}"`);
  });

  it('lists what needs attention before what went out, and the last run before the first', () => {
    const files = [
      entry({ name: 'good.csv' }),
      entry({ name: 'bad.csv', verdict: 'failed' }),
      entry({ name: 'odd.csv', verdict: 'attention' }),
      entry({ name: 'no.csv', verdict: 'refused' }),
    ];
    const first = run({ night: 'first', workflowId: 'run-first', files });
    const text = words(page(first, run({ night: 'second', workflowId: 'run-second', startedAt: START + 9 })));

    const order = ['run-second', 'run-first', 'bad.csv', 'no.csv', 'odd.csv', 'good.csv'];
    const places = order.map((word) => text.indexOf(word));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  it('says of a run that was interrupted who goes on with it', () => {
    expect(words(page(run({ finishedAt: null })))).toContain(
      'not ended. If it was interrupted, the next night goes on with what it left; while it still runs, no other night begins.',
    );
    expect(words(page(run()))).toContain('Started 2026-11-21 02:00 UTC, finished 2026-11-21 02:01 UTC.');
  });

  it.each([
    [
      'pt',
      'Noite de sábado, 21 de novembro de 2026',
      '1 de 1 ficheiros precisa de alguém.',
      '1 de 10 faturas está sem emissão confirmada.',
    ],
    [
      'es',
      'Noche del sábado, 21 de noviembre de 2026',
      '1 de 1 archivos necesita a alguien.',
      '1 de 10 facturas está sin emisión confirmada.',
    ],
  ])('in %s has its words and dates', (language, title, verdict, remark) => {
    const sentences = ['1 of 10 invoices is not confirmed as issued.'];
    const remarks = [{ kind: 'missing', n: 1, of: 10 }] as const;
    const files = [entry({ verdict: 'attention', issued: 9, sentences, remarks })];

    const text = nightlyHtml(nightlySummary(DATE, [run({ files })]), (path) => path, chooseLanguage(language));

    const parts = [`<html lang="${language}">`, `<h1>${title}</h1>`, `<strong>${verdict}</strong>`, `<p>${remark}</p>`];
    for (const part of parts) expect(text).toContain(part);
    expect(words(text)).not.toMatch(/invoice|file|Started/u);
  });

  it('runs nothing that stands in a file name or a sentence', () => {
    const evil = '<img src=x onerror=alert(1)>"\'&';
    const remarks = [{ kind: 'held', difference: evil }] as const;
    const file = entry({ name: evil, shelvedAs: evil, remarks, report: `javascript:${evil}` });
    const text = page(run({ files: [file], waiting: [{ name: evil, reason: 'empty' }] }));

    expect(text).not.toContain('<img');
    expect(text.match(/&lt;img/gu)?.length).toBe(5);
    expect(text).toContain('default-src &#39;none&#39;');
  });
});

describe('the book of the nights', () => {
  const night: NightlyRun = { ...nightNamed('a'), startedAt: START };

  /** A book of its own, in a language. */
  async function newBook(language?: string) {
    const directory = await temporaryDirectory();
    const book = createRunLog(directory, language === undefined ? undefined : chooseLanguage(language));
    const file = join(directory, 'nights', `${DATE}.json`);
    return { directory, book, summary: async (): Promise<unknown> => JSON.parse(await readFile(file, 'utf8')) };
  }

  it('has a summary after every file: a night that is killed still has one', async () => {
    const { directory, book, summary } = await newBook();

    const paths = await book.record(night, entry());

    const place = join(directory, 'nights', DATE);
    expect(paths).toEqual({ json: `${place}.json`, html: `${place}.html` });
    expect(await summary()).toMatchObject({
      ...{ schema: 'lote.night/1', date: DATE, totals: { files: 1, issued: 1, waiting: 0 } },
      runs: [{ night: night.nightId, startedAt: '2026-11-21T02:00:00.000Z', finishedAt: null }],
    });
    expect(await readFile(paths.html, 'utf8')).toContain('Night of 2026-11-21');
  });

  it('takes a file that is recorded again, after a crash, for the same file', async () => {
    const { directory, book, summary } = await newBook();
    await book.record(night, entry({ verdict: 'failed' }));

    await createRunLog(directory).record(night, entry());

    expect(await summary()).toMatchObject({ totals: { files: 1, issued: 1, failed: 0 } });
  });

  it('keeps two runs of a date that write at the same moment, and leaves another date alone', async () => {
    const { book, summary } = await newBook();
    const second = { ...night, nightId: `${DATE}-bbbbbbbb`, startedAt: START + 5 };
    const slots = ['0001', '0002', '0003', '0004'];

    await book.record({ ...night, nightId: '2026-11-20-cccccccc', date: '2026-11-20' }, entry());
    await Promise.all(
      slots.flatMap((slot) => [book.record(night, entry({ slot })), book.record(second, entry({ slot }))]),
    );
    await book.finish(second, { waiting: [], finishedAt: START + 9 });

    expect(await summary()).toMatchObject({
      totals: { files: 8 },
      runs: [{ finishedAt: null }, { files: slots.map((slot) => ({ slot })) }],
    });
  });

  it('keeps the end of a run from a step that stood still since before it', async () => {
    const { directory, book, summary } = await newBook();
    const finished = { night, end: { waiting: [], finishedAt: START + 9 } };
    const slow = {
      ...night,
      get startedAt() {
        writeFileSync(join(directory, 'nights', 'runs', night.nightId, 'night.json'), JSON.stringify(finished));
        return START;
      },
    };
    await book.noteMessage(night, { state: 'sent', at: START, detail: null });

    await book.record(slow, entry());

    expect(await summary()).toMatchObject({ runs: [{ finishedAt: '2026-11-21T02:00:00.009Z' }] });
  });

  it('ends with the entries of its own run, in the order of their slots, and a summary that says so', async () => {
    const { book, summary } = await newBook();
    for (const slot of ['0002', '0010', '0001']) await book.record(night, entry({ slot, name: `${slot}.csv` }));
    await book.record({ ...night, nightId: `${DATE}-bbbbbbbb` }, entry({ slot: '0009' }));

    const end = await book.finish(night, { waiting: [{ name: 'x.csv', reason: 'growing' }], finishedAt: START + 9 });

    expect(end.entries.map(({ slot }) => slot)).toEqual(['0001', '0002', '0010']);
    expect(await summary()).toMatchObject({ totals: { files: 4 } });
  });

  it('of a night without files has a summary too, and leaves nothing half-written beside it', async () => {
    const { directory, book, summary } = await newBook();

    await book.finish(night, { waiting: [], finishedAt: START + 9 });

    const runs = [{ finishedAt: '2026-11-21T02:00:00.009Z' }];
    expect(await summary()).toMatchObject({ totals: { files: 0 }, runs });
    const names = await readdir(join(directory, 'nights'), { recursive: true });
    expect(names.filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('finds its reports from the page, whatever stands in their names', async () => {
    const { directory, book } = await newBook();
    const report = join(directory, 'batch ü #1?', 'report.html');

    const { html } = await book.record(night, entry({ report }));

    expect(await readFile(html, 'utf8')).toContain('href="../batch%20%C3%BC%20%231%3F/report.html"');
  });
});
