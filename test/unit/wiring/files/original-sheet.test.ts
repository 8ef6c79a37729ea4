import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GroupedInvoice } from '../../../../src/domain/row.ts';
import { contentOf, csvHandedBack, readKept, workbookHandedBack } from '../../../support/files/handed-back.ts';
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

const FORMULA = /^(?:formula-|spreadsheet-error$)/;

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lote-handed-back-'));
  mkdirSync(join(directory, 'profiles'));
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('a workbook of another program that is handed back whole', () => {
  it.each(FILES)('says the same again, and what was refused in it is refused again: %s', async (name) => {
    const first = await readKept(directory, readFileSync(join(WORKBOOKS, name)));
    if (!first.read.ok) return;

    const second = await readKept(directory, await workbookHandedBack(directory, first));

    expect(second.invoices.map(said)).toEqual(first.invoices.map(said));
  });
});

describe('a workbook of another program whose corrections become CSV', () => {
  it.each(FILES)('has nothing sent that was refused, as long as nobody corrects it: %s', async (name) => {
    const first = await readKept(directory, readFileSync(join(WORKBOOKS, name)));
    const invoices = first.invoices.filter(({ ok }) => !ok);
    const isLost = first.read.findings.some(({ row, severity }) => row !== null && severity === 'error');
    if (!first.read.ok || (invoices.length === 0 && !isLost)) return;
    const refused = { read: first.read, invoices };

    const asCsv = await readKept(directory, Buffer.from(await csvHandedBack(directory, refused)));
    const saved = await readKept(directory, Buffer.from(savedAsCsv(await workbookHandedBack(directory, refused))));
    // A file without a single invoice is refused, and has no corrections.
    const next = [asCsv, saved].filter(({ read }) => read.ok);
    const again = await Promise.all(next.map((read) => csvHandedBack(directory, read)));
    const readAgain = await Promise.all(again.map((csv) => readKept(directory, Buffer.from(csv))));

    for (const { invoices: said } of [asCsv, saved, ...readAgain]) expect(said.filter(({ ok }) => ok)).toEqual([]);
  });
});

describe('corrections of a workbook in which a tax number is a number without its zeros', () => {
  const row = ['F1', 1_964_843, 'Ana', 'EUR', 'Vela', 2, 1.5, 'IVA_23'];
  const other = ['F2', '501964843', 'Rui', 'EUR', 'Vela', 2, 1.5, ''];
  const NIF = '501964843';
  const sent = [
    { ok: true, invoice: { ref: 'F1', merchant: { nif: NIF } } },
    { ok: false, ref: 'F2' },
  ];
  const notSent = [{ ok: false, ref: 'F2' }];

  async function refused() {
    const first = await readKept(directory, officeWorkbook([HEADER.split(','), row, other]));
    expect(first.read.findings).toContainEqual(expect.objectContaining({ code: 'tax-number-not-proved' }));
    return first;
  }

  it('are not sent when a spreadsheet has written the number of a CSV file in full', async () => {
    const csv = (await csvHandedBack(directory, await refused())).replace(/1\.964843E\+6/u, '1964843');

    const { read, invoices } = await readKept(directory, Buffer.from(csv));

    expect(invoices).toMatchObject(notSent);
    expect(read.findings).toContainEqual(expect.objectContaining({ code: 'tax-number-not-proved', row: 2 }));
  });

  it('are sent from CSV when somebody writes it', async () => {
    const csv = (await csvHandedBack(directory, await refused())).replace(/1\.964843E\+6/u, NIF);

    expect((await readKept(directory, Buffer.from(csv))).invoices).toMatchObject(sent);
  });

  it('are sent from the workbook when somebody writes it', async () => {
    const workbook = await workbookHandedBack(directory, await refused());

    const { invoices } = await readKept(directory, correctedInOffice(workbook, 'B2', NIF));

    expect(invoices).toMatchObject(sent);
  });

  it('are sent from that workbook in CSV when lote_original is emptied, too', async () => {
    const workbook = correctedInOffice(await workbookHandedBack(directory, await refused()), 'B2', NIF);
    const csv = savedAsCsv(workbook);
    const emptied = csv.replace(/"\[(?:[^"]|"")*\]"/u, '');

    expect((await readKept(directory, Buffer.from(csv))).invoices).toMatchObject(notSent);
    expect((await readKept(directory, Buffer.from(emptied))).invoices).toMatchObject(sent);
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

    const second = await readKept(directory, await workbookHandedBack(directory, first));

    expect(second.invoices).toMatchObject([{ ok: true, invoice: { lines: [{ unitPrice: '1.5' }] } }]);
  });
});

describe('corrections of a workbook that somebody saves as CSV', () => {
  const row = ['00012', '501964843', 'Ana', 'EUR', 'Vela', 2, 1.5, 'IVA_23'];

  async function handedBack(book: Uint8Array): Promise<Buffer> {
    return workbookHandedBack(directory, await readKept(directory, book));
  }

  it('are sent as the workbook was', async () => {
    const csv = savedAsCsv(await handedBack(officeWorkbook([HEADER.split(','), row])));

    const read = await readKept(directory, Buffer.from(csv));

    expect(read.invoices).toMatchObject([
      { ok: true, invoice: { ref: '00012', lines: [{ quantity: '2', unitPrice: '1.5' }] } },
    ]);
  });

  it('never send a reference that lost its zeros when that file was opened and saved again', async () => {
    const csv = savedAsCsv(await handedBack(officeWorkbook([HEADER.split(','), row])));

    const { invoices } = await readKept(directory, Buffer.from(csv.replace('\n00012;', '\n12;')));

    expect(invoices).toMatchObject([{ ok: false, ref: '00012', findings: [{ code: 'cell-changed' }] }]);
  });

  it.each([
    ['0.00', 12.345],
    ['0.00', 0.125],
    ['#,##0.0', 1234.56],
  ])('never send what the format %s shows of %d', async (format, price) => {
    const table = [HEADER.split(','), [...row.slice(0, 6), price, 'IVA_23']];
    const workbook = await handedBack(formattedWorkbook(table, 6, format));
    const { invoices } = await readKept(directory, Buffer.from(savedAsCsv(workbook)));

    expect(invoices).toMatchObject([{ ok: false }]);
    expect(invoices[0]?.findings).toContainEqual(expect.objectContaining({ code: 'cell-changed' }));
    expect((await readKept(directory, workbook)).invoices).toMatchObject([
      { ok: true, invoice: { lines: [{ unitPrice: String(price) }] } },
    ]);
  });

  it('never send what a format shows of a number, also when the CSV file was saved as a workbook again', async () => {
    const table = [HEADER.split(','), [...row.slice(0, 6), 12.345, 'IVA_23']];
    const workbook = await handedBack(formattedWorkbook(table, 6, '0.00'));
    const [header = [], shown = []]: string[][] = parse(savedAsCsv(workbook), { delimiter: ';' });

    const again = await readKept(
      directory,
      officeWorkbook([header, shown.map((cell, at) => (at === 6 ? Number(cell) : cell))]),
    );
    const third = await readKept(directory, await workbookHandedBack(directory, again));

    for (const { invoices } of [again, third])
      expect(invoices[0]?.findings).toContainEqual(expect.objectContaining({ code: 'cell-changed' }));
  });
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

    const second = await readKept(directory, await workbookHandedBack(directory, first));

    expect(second.read.proof['profile']).toMatchObject({ name: 'erp', how: 'corrections' });
    expect(second.invoices.map(contentOf)).toEqual(first.invoices.map(contentOf));
    expect(second.invoices).toMatchObject([{ ok: true, invoice: { ref: '007' } }]);
  });
});
