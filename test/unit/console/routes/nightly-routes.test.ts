import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { createRunLog } from '../../../../src/nightly/run-log.ts';
import { chooseLanguage } from '../../../../src/texts/languages.ts';
import { nightEntry } from '../../nightly/drop-place.ts';
import { pageAt, testConsole } from '../console-ledger.ts';
import type { NightlyRun } from '../../../../src/domain/records/dropped-file.ts';
import type { NightlyRunEntry } from '../../../../src/domain/records/night.ts';

/** A run that began at no time of this world. */
const NO_TIME = JSON.stringify({
  ...{ date: '2026-05-01', totals: {} },
  runs: [{ workflowId: 'w', startedAt: 'soon', finishedAt: null, files: [], waiting: [] }],
});
const TWO = Date.UTC(2026, 4, 1, 2);

let reportsDir: string;

beforeEach(async () => {
  reportsDir = await temporaryDirectory();
});

function nightOf(date: string, run = 'aaaa1111'): NightlyRun {
  return { nightId: `${date}-${run}`, date, workflowId: `night-${date}`, runId: run, startedAt: TWO };
}

function entry(given: Partial<NightlyRunEntry>): NightlyRunEntry {
  return nightEntry({ slot: given.name ?? '1', invoices: 3, issued: 3, ...given });
}

const pageOf = (path: string, language = 'en') => pageAt(testConsole({ reportsDir }), path, language);

describe('the nights', () => {
  it('are none at first, and it says how to have some', async () => {
    expect(await pageOf('/nights')).toContain('lote nightly on');
    expect(await pageOf('/nights', 'es')).toContain('Todavía no hubo ninguna noche.');
  });

  it('are listed as their book wrote them, the last one first, with what became of their files', async () => {
    const book = createRunLog(reportsDir);
    const [first, second] = [nightOf('2026-05-01'), nightOf('2026-05-02')];
    await book.record(first, entry({}));
    await book.finish(first, { waiting: [], finishedAt: TWO + 60_000 });
    await book.record(second, entry({ name: 'bad.csv', verdict: 'refused', issued: 0, batchId: null }));
    await book.finish(second, { waiting: [{ name: 'big.csv', reason: 'growing' }], finishedAt: TWO + 60_000 });

    const page = await pageOf('/nights');

    expect([...page.matchAll(/href="\/nights\/([\d-]+)"/gu)].map(([, date]) => date)).toEqual([
      '2026-05-02',
      '2026-05-01',
    ]);
    expect(page).toMatch(/state bad">2 of 2 files need a person\./u);
    expect(page).toMatch(/state good">Everything went out: 1 file\./u);
    expect(page).toContain('Friday, May 1, 2026');
  });

  it('of more than a quarter of a year are on several pages', async () => {
    const folder = join(reportsDir, 'nights');
    await mkdir(folder);
    for (let day = 0; day < 100; day += 1)
      await writeFile(join(folder, `${new Date(TWO + day * 86_400_000).toISOString().slice(0, 10)}.json`), NO_TIME);
    const datesOf = (page: string) => [...page.matchAll(/href="\/nights\/([\d-]+)"/gu)].map(([, date]) => date);

    const [newest, older] = [await pageOf('/nights'), await pageOf('/nights?page=2')];

    expect(newest).toContain('href="/nights?page=2"');
    expect([datesOf(newest)[0], datesOf(newest).length]).toEqual(['2026-08-08', 90]);
    expect(datesOf(older).at(-1)).toBe('2026-05-01');
    expect(new Set([...datesOf(newest), ...datesOf(older)]).size).toBe(100);
  });

  it('say of each file where it lies and why, what is worst first', async () => {
    const book = createRunLog(reportsDir);
    const night = nightOf('2026-05-01');
    await book.record(night, entry({ name: 'good.csv' }));
    await book.record(
      night,
      entry({
        ...{ name: '<b>.csv', verdict: 'refused', batchId: null, shelvedAs: 'refused/2026-05-01/<b>.csv' },
        remarks: [{ kind: 'run-failed', code: 'no-header', message: 'It has no header.' }],
      }),
    );
    await book.finish(night, { waiting: [{ name: 'big.csv', reason: 'growing' }], finishedAt: TWO + 60_000 });

    const page = await pageOf('/nights/2026-05-01', 'pt');

    expect(page.indexOf('&lt;b&gt;.csv')).toBeLessThan(page.indexOf('good.csv'));
    for (const text of [
      ...['It has no header.', 'refused/2026-05-01/', 'href="/batches/batch-may-1"', 'recusado', 'big.csv'],
      ...['Ainda estava a ser escrito.', '2 de 3 ficheiros precisam de alguém.'],
    ])
      expect(page).toContain(text);
    expect(page).not.toContain('<b>');
  });

  it('show the note beside a file in the language of the reader, whatever that of the installation is', async () => {
    const remarks = [
      { kind: 'stopped', what: 'cancelled', at: TWO, who: 'maria', why: 'x' },
      { kind: 'missing', n: 1, of: 3 },
      { kind: 'rows-without-invoice', n: 2 },
      { kind: 'confirm-total', command: 'lote confirm-total batch-may-1 --invoices 3 --reason WHY' },
    ] as const;
    const file = entry({ verdict: 'attention', sentences: ['Stopped'], remarks });
    await createRunLog(reportsDir, chooseLanguage('pt')).record(nightOf('2026-05-01'), file);

    const page = await pageOf('/nights/2026-05-01', 'es');

    expect(page).toContain('<p>1 de 3 facturas está sin emisión confirmada.</p>');
    expect(page).toMatch(/<p>Detenido el [^<]*: cancelado, por maria \(x\)\.<\/p>/u);
    expect(page).toContain('<p>2 filas no pertenecen a ninguna factura.</p>');
    expect(page).toContain('lote confirm-total batch-may-1 --invoices 3 --reason WHY');
    expect(page).not.toContain('Stopped');
  });

  it('say of each message when it was sent, or why not', async () => {
    const book = createRunLog(reportsDir);
    const night = nightOf('2026-05-01');
    await book.record(night, entry({ verdict: 'attention', issued: 0 }));
    const noted = async (state: 'unsent' | 'refused' | 'sent', detail: string | null, language: string) => {
      await book.noteMessage(night, { state, at: TWO + 60_000, detail });
      return pageOf('/nights/2026-05-01', language);
    };

    expect(await noted('unsent', 'found 451', 'es')).toMatch(
      /Mensaje por correo: todavía sin enviar, último intento el 1 may 2026, 2:01:00/u,
    );
    const refused = await noted('refused', 'found <535>', 'en');
    expect(refused).toContain('Message by e-mail: not sent, and not tried again since');
    expect(refused).toContain('found &lt;535&gt;');
    expect(refused).not.toContain('451');
    expect(await noted('sent', null, 'es')).toContain('Mensaje por correo: enviado el');
  });

  it('that were interrupted say what happens next, and are listed as they were', async () => {
    await createRunLog(reportsDir).record(nightOf('2026-05-01'), entry({}));

    const [page, list] = [await pageOf('/nights/2026-05-01'), await pageOf('/nights')];

    expect(page).toContain('If it was interrupted, the next night goes on with what it left');
    for (const shown of [page, list])
      expect(shown).toMatch(/(?:verdict|state) open"[^]*This night has not ended: 1 file so far\./u);
  });

  it.each(['{', '[]', '{"date":"2026-05-01"}', NO_TIME])(
    'whose summary is %s are listed, and cannot be read',
    async (text) => {
      await mkdir(join(reportsDir, 'nights'), { recursive: true });
      await writeFile(join(reportsDir, 'nights', '2026-05-01.json'), text);

      expect(await pageOf('/nights')).toContain('The summary of this night cannot be read.');
      expect(await pageOf('/nights/2026-05-01')).toContain('The summary of this night cannot be read.');
      expect(await pageOf('/nights/2026-05-02')).toContain('There is nothing at this address.');
    },
  );

  it.each(['2026-05-09', '2026-5-9', '..%2F..%2Fetc', 'x'])('of %s are not there', async (date) => {
    expect(await pageOf(`/nights/${date}`)).toContain('There is nothing at this address.');
  });
});
