import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forTest } from '../../support/lifetime.ts';
import { correctedInOffice, officeWorkbook } from '../../support/files/office-workbook.ts';
import { newPlace, runLote, type CommandEnd } from '../../support/lote/lote-command.ts';
import { lotePlace, nightSummary, readJson } from '../../support/lote/running-lote.ts';

/** What the last night of a summary did with its only file, and the counts in the report of it. */
async function lastFile(end: CommandEnd) {
  const { runs } = await nightSummary(end);
  const file = runs.at(-1)?.files[0] ?? expect.fail(end.stderr);
  const { counts } = await readJson<{ counts: object }>(join(dirname(file.report), 'report.json'));
  return { corrections: file.corrections ?? '', counts };
}

describe('lote nightly', () => {
  it('issues what is right in a dropped workbook, and the rest when its corrections are dropped corrected', async () => {
    const header = 'invoice_ref,merchant_nif,merchant_legal_name,merchant_email,customer_name,currency,description';
    const merchant = ['501964843', 'Padaria Central do Porto, Lda', 'faturas@padaria-central.example'];
    const row = (ref: string, price: number | string) => [
      ...[ref, ...merchant, 'Ana Reis', 'EUR', 'Vela', 2, price, 'IVA_23'],
    ];
    const table = [[...header.split(','), 'quantity', 'unit_price', 'tax_code'], row('W/1', 1.5), row('W/2', 'x')];
    // Both nights are handed over to one owner.
    const own = await forTest(lotePlace({ up: true }));
    const night = () => own.run('nightly', 'now', '--json');
    await own.file('faturas.xlsx', officeWorkbook(table));

    const first = await lastFile(await night());
    const corrections = await readFile(first.corrections);
    await own.file('corrected.xlsx', correctedInOffice(corrections, 'I2', 12.5));
    const second = await lastFile(await night());

    expect(first.corrections).toMatch(/corrections\.xlsx$/u);
    expect(first.counts).toMatchObject({ rows: 2, invoices: 2, issued: 1, invalid: 1 });
    expect(second.counts).toMatchObject({ rows: 1, invoices: 1, issued: 1 });
    own.expectIssued(2);
  });

  it.each(['on', 'off', 'show'])('%s names what to start where no Temporal server runs', async (command) => {
    const away = await forTest(lotePlace({ temporal: 'own' }));

    const { code, stderr } = await away.run('nightly', command);

    expect(code).toBe(3);
    expect(stderr).toContain('Start Lote (lote up)');
  });

  it.each([
    [['nightly', 'on', '--at', '25:00'], '--at must be a time such as 02:00'],
    [['nightly', 'on', '--timezone', 'Lisbon'], 'IANA name such as Europe/Lisbon'],
    [['nightly', 'on', '--catch-up', '12'], '--catch-up must be a duration with a unit'],
    [['purge', '--older-than', '400m'], '--older-than must be a duration of at least a day'],
  ])('%j is a usage error with an example, which needs no Temporal server', async (parameters, sentence) => {
    const place = await forTest(newPlace());
    const run = await runLote(parameters, { ...place.env, TEMPORAL_ADDRESS: '127.0.0.1:9' });

    expect(run.code).toBe(64);
    expect(run.stderr).toContain(sentence);
  });
});
