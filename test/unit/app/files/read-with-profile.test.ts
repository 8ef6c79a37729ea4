import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryRowStore } from '../../../../src/ingest/row-stores.ts';
import { confirmedOptions } from '../../../support/files/confirmed-layout.ts';
import { readWithProfile } from '../../../../src/app/files/read-with-profile.ts';
import { xlsxOf } from '../../../support/files/workbook-file.ts';
import { HEADER, removeTemporaryFiles, temporaryFile } from '../../ingest/ingested.ts';

afterAll(removeTemporaryFiles);

const TWO_SHEETS = fileURLToPath(new URL('../../../golden/workbooks/openpyxl-two-sheets.xlsx', import.meta.url));
const ROW = ['F1', '501964843', 'Ana', 'EUR', 'Pão', { number: '1' }, { number: '2.5' }, 'IVA_23'];

/** Reads a file with the profiles of an input directory of its own. */
async function read(path: string, profile: Readonly<Record<string, unknown>>, named?: string) {
  const inputDir = join(dirname(temporaryFile('')), 'input');
  mkdirSync(join(inputDir, 'profiles'), { recursive: true });
  writeFileSync(join(inputDir, 'profiles', `${named ?? 'erp'}.json`), JSON.stringify(profile));
  const options = named === undefined ? {} : { profile: named };
  return readWithProfile({ path, file: 'faturas.xlsx', inputDir, store: memoryRowStore(), options });
}

/** Corrections of a file that was read with `erp`, below rows that somebody added. */
function correctionsWorkbook(added: number): string {
  const header = [...HEADER.split(','), 'lote_state', 'lote_reason', 'lote_read_as'];
  const rows = Array.from({ length: added }, (_, at) => [`A${at}`, ...ROW.slice(1), '', '', '']);
  const own = [...ROW, 'invalid', 'why', 'decimal=point profile=erp'];
  return temporaryFile(xlsxOf([header, ...rows, own]), 'corrections.xlsx');
}

/** What is read of a file before its rows. */
const HEAD_BYTES = 256 * 1024;

/** Corrections whose first invoice is longer than that, and which name `erp` behind it, as a person may write JSON. */
function longCorrections(form: 'CSV' | 'JSON'): string {
  const own = { lote_state: 'invalid', lote_reason: 'why', lote_read_as: 'decimal=point profile=erp' };
  const description = 'x'.repeat(1000);
  const count = Math.ceil(HEAD_BYTES / description.length) + 10;
  if (form === 'CSV') {
    const row = `F1,501964843,Ana,EUR,${description}`;
    const rows = Array.from({ length: count }, (_, at) => `${row},${at + 1},2.5,N,,invalid,why,\n`);
    const header = `${HEADER},lote_original,${Object.keys(own).join(',')}\n`;
    const last = `${row},1,2.5,N,,${Object.values(own).join(',')}\n`;
    return temporaryFile(`${header}${rows.join('')}${last}`, 'corrections.csv');
  }
  const lines = Array.from({ length: count }, (_, at) => ({
    ...{ description, quantity: at + 1, unit_price: 2.5, tax_code: 'N' },
  }));
  const invoice = { invoice_ref: 'F1', merchant: { nif: '501964843' }, customer: { name: 'Ana' }, currency: 'EUR' };
  return temporaryFile(JSON.stringify([{ ...invoice, lines, ...own }]), 'corrections.json');
}

describe.each(['CSV', 'JSON'] as const)('a %s file of corrections that names its profile far below', (form) => {
  it('is refused, and says with which profile it is to be run', async () => {
    const { ok, findings } = await read(longCorrections(form), { taxCodes: { N: 'IVA_23' } });

    expect([ok, findings[0]?.code]).toEqual([false, 'corrections-profile']);
    expect(findings[0]?.message).toContain('--profile erp');
  });

  it('is read with the profile that an operator names, its own or another', async () => {
    for (const name of ['erp', 'renamed']) {
      const { ok, proof } = await read(longCorrections(form), { taxCodes: { N: 'IVA_23' } }, name);

      expect(ok).toBe(true);
      expect(proof['profile']).toMatchObject({ name, how: 'declared' });
    }
  });
});

describe('a workbook read with a mapping profile', () => {
  it('is read from the sheet that the profile names, or refused with the names of those that it has', async () => {
    const { ok, proof } = await read(TWO_SHEETS, { sheet: 'Fevereiro' }, 'erp');
    const { ok: isRead, findings } = await read(TWO_SHEETS, { sheet: 'Março' }, 'erp');

    expect([ok, isRead]).toEqual([true, false]);
    expect(proof['workbook']).toMatchObject({ sheet: { name: 'Fevereiro', how: 'declared' }, notRead: ['Janeiro'] });
    expect(findings[0]).toMatchObject({ code: 'sheet-missing' });
    expect(findings[0]?.message).toContain('"Janeiro", "Fevereiro"');
  });

  it('is read with the one that its first rows name, when it holds corrections, and refused when only a row far below does', async () => {
    const first = await read(correctionsWorkbook(0), {});
    const path = correctionsWorkbook(60);
    const without = await read(path, {});

    expect(first.proof['profile']).toMatchObject({ name: 'erp', how: 'corrections' });
    expect([without.ok, without.findings[0]?.code]).toEqual([false, 'corrections-profile']);
    expect([first.ok, (await read(path, {}, 'erp')).ok]).toEqual([true, true]);
  });

  it('is read with the decimal mark that corrections name, and not with that of the profile that they name far below', async () => {
    const profile = { decimal: ',', duplicateRows: 'keep' };
    for (const added of [0, 60]) {
      const conversion = { decimal: '.', duplicateRows: 'keep' };
      expect(await read(correctionsWorkbook(added), profile, 'erp')).toMatchObject({ ok: true, conversion });
    }
  });

  it('gets a profile proposed by the header and the first rows of its sheet', async () => {
    const header = ['Fatura', 'NIF', 'Cliente', 'Moeda', 'O quê', 'Quantidade', 'Preço', 'Taxa'];
    const path = temporaryFile(xlsxOf([header, [...ROW.slice(0, 7), { number: '23' }]]), 'faturas.xlsx');

    const proposed = await confirmedOptions(path, { column: [['description', 'O quê']], taxCode: [['23', 'IVA_23']] });

    expect(proposed).toMatchObject({ columns: { invoice_ref: 'Fatura', merchant_nif: 'NIF' } });
    expect(proposed).not.toHaveProperty('decimal');
    expect(proposed).not.toHaveProperty('encoding');
    expect(await confirmedOptions(TWO_SHEETS)).toMatchObject({ sheet: 'Janeiro' });
  });
});
