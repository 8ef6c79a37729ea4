import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { GroupedInvoice } from '../../../../src/domain/row.ts';
import { contentOf, handedBack, keptDirectory, readKept } from '../../../support/files/confirmed-layout.ts';
import {
  correctedInOffice,
  formattedWorkbook,
  officeWorkbook,
  savedAsCsv,
} from '../../../support/files/office-workbook.ts';
import { odsOfContent, xlsxOf } from '../../../support/files/workbook-file.ts';
import { HEADER } from '../../ingest/ingested.ts';

const WORKBOOKS = fileURLToPath(new URL('../../../golden/workbooks/', import.meta.url));
const FILES = readdirSync(WORKBOOKS).filter((name) => /\.(?:xlsx|xlsm|ods)$/.test(name));
/** Rows of these files have merged cells. */
const MERGED = FILES.filter((name) => /-merged|^poi-(?:formulas|recalculate)\./u.test(name));

const FORMULA = /^(?:formula-|spreadsheet-error$)/;

const directory = keptDirectory();

describe('a workbook of another program that is handed back whole', () => {
  it.each(FILES.filter((name) => !MERGED.includes(name)))(
    'says the same again, and what was refused in it is refused again: %s',
    async (name) => {
      const first = await readKept(directory, readFileSync(join(WORKBOOKS, name)));
      if (!first.read.ok) return;

      const second = await readKept(directory, await handedBack(directory, first));

      expect(second.invoices.map(said)).toEqual(first.invoices.map(said));
    },
  );

  it.each(MERGED)('is not handed back as a workbook if its rows have merged cells: %s', async (name) => {
    const first = await readKept(directory, readFileSync(join(WORKBOOKS, name)));

    await expect(handedBack(directory, first)).rejects.toThrow('its rows have merged cells');
  });
});

describe('corrections of a workbook in which a tax number is a number without its zeros', () => {
  it('are sent from the workbook once it is filled in', async () => {
    const nif = '501964843';
    const row = ['F1', 1_964_843, 'Ana', 'EUR', 'Vela', 2, 1.5, 'IVA_23'];
    const other = ['F2', nif, 'Rui', 'EUR', 'Vela', 2, 1.5, ''];
    const first = await readKept(directory, officeWorkbook([HEADER.split(','), row, other]));
    expect(first.read.findings).toContainEqual(expect.objectContaining({ code: 'tax-number-not-proved' }));
    const workbook = await handedBack(directory, first);

    const { invoices } = await readKept(directory, correctedInOffice(workbook, 'B2', nif));

    expect(invoices).toMatchObject([
      { ok: true, invoice: { ref: 'F1', merchant: { nif } } },
      { ok: false, ref: 'F2' },
    ]);
  });
});

describe('a spreadsheet whose format has a billion zeros', () => {
  it('is handed back with a format that a workbook can have', async () => {
    const styles =
      '<office:document-styles><number:number-style style:name="N1"><number:number number:decimal-places="2000000000" number:min-integer-digits="1000000000"/></number:number-style><style:style style:name="ce1" style:data-style-name="N1"/></office:document-styles>';
    const row = ['F1', '501964843', 'Ana', 'EUR', 'Vela', '2', '1.5', 'IVA_23'];
    const cells = [HEADER.split(','), row].map((texts, at) =>
      texts.map((text, column) =>
        at === 1 && column === 6
          ? `<table:table-cell table:style-name="ce1" office:value-type="float" office:value="${text}"/>`
          : `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`,
      ),
    );
    const rows = cells.map((row) => `<table:table-row>${row.join('')}</table:table-row>`).join('');
    const book = odsOfContent(`<table:table table:name="Folha">${rows}</table:table>`, { 'styles.xml': styles });
    const first = await readKept(directory, book);

    const second = await readKept(directory, await handedBack(directory, first));

    expect(second.invoices).toMatchObject([{ ok: true, invoice: { lines: [{ unitPrice: '1.5' }] } }]);
  });
});

describe('corrections of a workbook that are saved as CSV', () => {
  it.each(['0.00', 'General'])(
    'are refused, because a text has not what the format %s does not show',
    async (format) => {
      const row = ['00012', '501964843', 'Ana', 'EUR', 'Vela', 2, 12.345, 'IVA_23'];
      const first = await readKept(directory, formattedWorkbook([HEADER.split(','), row], 6, format));
      const workbook = await handedBack(directory, first);

      const { read } = await readKept(directory, Buffer.from(savedAsCsv(workbook)));

      expect(read).toMatchObject({ ok: false, findings: [{ code: 'corrections-not-compared' }] });
      expect((await readKept(directory, workbook)).invoices).toMatchObject([
        { ok: true, invoice: { ref: '00012', lines: [{ unitPrice: '12.345' }] } },
      ]);
    },
  );
});

/** What is wrong with a formula is told in other words when only its value, or the lack of one, is left. */
function said(grouped: GroupedInvoice): unknown {
  const isFormula = !grouped.ok && grouped.findings.some(({ code }) => FORMULA.test(code));
  return isFormula ? [grouped.ref, grouped.nif, 'formula'] : contentOf(grouped);
}

describe('corrections of a workbook that was read with a mapping profile', () => {
  it('are read with it again without being asked for', async () => {
    writeFileSync(join(directory, 'profiles', 'erp.json'), JSON.stringify({ columns: { description: 'Coisa' } }));
    const header = HEADER.replace('description', 'Coisa').split(',');
    const row = ['007', '501964843', 'Ana', 'EUR', 'Vela', { number: '2' }, { number: '1.5' }, 'IVA_23'];
    const first = await readKept(directory, xlsxOf([header, row]), { profile: 'erp' });

    const second = await readKept(directory, await handedBack(directory, first));

    expect(second.read.proof['profile']).toMatchObject({ name: 'erp', how: 'corrections' });
    expect(second.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
    expect(second.invoices).toMatchObject([{ ok: true, invoice: { ref: '007' } }]);
  });
});
