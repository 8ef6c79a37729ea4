import { afterAll, describe, expect, it } from 'vitest';
import type { RawRow } from '../../../../src/domain/row.ts';
import { CsvRows } from '../../../../src/ingest/csv/csv-rows.ts';
import { FindingList } from '../../../../src/ingest/findings.ts';
import { RowWriter, memoryRowStore } from '../../../../src/ingest/row-stores.ts';
import { mapHeader } from '../../../../src/ingest/profile/map-header.ts';
import { readFile } from '../../../../src/ingest/read-file.ts';
import { openWorkbook } from '../../../../src/ingest/workbook/open-workbook.ts';
import { HEADER, ingested, refusalOf, removeTemporaryFiles, temporaryFile } from '../ingested.ts';
import { header, line, LINE, number, ods, odsCell, odsCells, odsRow, shared, text, WHOLE, xlsx } from './sheet-xml.ts';

afterAll(removeTemporaryFiles);

const odsLine = (attributes = ''): string => odsRow(odsCells(LINE), attributes);

async function codesOfInvoices(file: Buffer): Promise<readonly string[]> {
  const { result, invoices } = await ingested(temporaryFile(file, 'file'));
  if (!result.ok) return result.findings.map(({ code }) => code);
  return invoices.flatMap((invoice) => (invoice.ok ? [] : invoice.findings.map(({ code }) => code)));
}

describe('a workbook of kilobytes', () => {
  it('hands long rows to the store before they fill the memory', async () => {
    const portions: number[] = [];
    const store = memoryRowStore();
    const append = (portion: readonly RawRow[]): Promise<void> => {
      portions.push(portion.length);
      return Promise.resolve();
    };
    const long = '<c t="s"><v>0</v></c>';
    const rows = Array.from({ length: 100 }, (_, at) =>
      line(at + 2, { invoice_ref: text(`F${at}`), unit_price: at < 50 ? number('2') : long }),
    );
    const file = xlsx(header + rows.join(''), shared(`<si><t>${'x'.repeat(1_000_000)}</t></si>`));
    await readFile({ path: temporaryFile(file, 'file.xlsx'), store: { ...store, append } });

    expect(portions.reduce((sum, length) => sum + length, 0)).toBe(100);
    expect(portions.length).toBeGreaterThan(1);
  });

  it('with a number of 20,000 digits has no number there, and none is searched for', async () => {
    const digits = `1.${'0'.repeat(20_000)}1`;

    expect(await codesOfInvoices(xlsx(header + line(2, { unit_price: number(digits) })))).toContain('cell-unreadable');
  });

  it('with a format that fills in 1,000 zeros has no reference there', async () => {
    const style = `<number:number-style style:name="N"><number:number number:min-integer-digits="1000"/></number:number-style><style:style style:name="c" style:data-style-name="N"/>`;
    const cell = '<table:table-cell table:style-name="c" office:value-type="float" office:value="7"/>';

    expect(await codesOfInvoices(ods(odsRow(cell + odsCells(LINE.slice(1))), style))).toContain(
      'number-format-adds-text',
    );
  });

  it('with the same cells merged 2,000 times has one finding for the row', async () => {
    const merged = '<mergeCell ref="G2:H2"/>'.repeat(2000);

    const part = `<worksheet><sheetData>${WHOLE}</sheetData><mergeCells>${merged}</mergeCells></worksheet>`;

    expect(await codesOfInvoices(xlsx('', { 'xl/worksheets/sheet1.xml': part }))).toEqual(['cell-merged']);
  });
});

describe('the reading of a workbook', () => {
  const cancelled = Object.assign(new Error('Cancelled'), { name: 'CancelledFailure' });

  it.each([
    ['XLSX', xlsx(WHOLE)],
    ['ODS', ods(odsLine())],
  ])('of an %s file ends with the reason it was cancelled with', async (_, file) => {
    const opening = openWorkbook(temporaryFile(file, 'file'), AbortSignal.abort(cancelled));

    await expect(opening).rejects.toBe(cancelled);
  });

  it('ends inside of a row that stands for many', async () => {
    const cancelling = new AbortController();
    const store = memoryRowStore();
    let appended = 0;
    const append = (): Promise<void> => {
      appended += 1;
      setImmediate(() => cancelling.abort(cancelled));
      return Promise.resolve();
    };
    const file = ods(odsLine('table:number-rows-repeated="20000"'));
    const path = temporaryFile(file, 'file.ods');

    await expect(readFile({ path, store: { ...store, append }, signal: cancelling.signal })).rejects.toBe(cancelled);
    expect(appended).toBe(1);
  });
});

it('a workbook has its cells merged in each row that a repeated one stands for', async () => {
  const cells = odsCells(LINE.slice(0, 6)) + odsCell('2.5', 'table:number-columns-spanned="2"') + odsCell('IVA_23');
  const codes = await codesOfInvoices(ods(odsRow(cells, 'table:number-rows-repeated="3"')));

  expect(codes.filter((code) => code === 'cell-merged')).toHaveLength(3);
});

describe('a table that ends in the last row that a spreadsheet holds', () => {
  const LAST = 1_048_576;
  const cut = { ok: false, findings: [expect.objectContaining({ code: 'truncated', row: LAST })] };

  it('is refused as a workbook, for the rest may have been dropped', async () => {
    const endingIn = async (row: number) =>
      (await ingested(temporaryFile(xlsx(WHOLE + line(row, { invoice_ref: text('F2') }))))).result;

    expect(await endingIn(LAST)).toMatchObject(cut);
    expect(await endingIn(LAST - 1)).toMatchObject({ ok: true });
  });

  it.each([
    [LAST - 1, null],
    [LAST, 'truncated'],
    [LAST + 1, null],
  ])('is told by its number of records alone: %d', async (records, code) => {
    const columns = HEADER.split(',');
    const reading = {
      ...{ counts: { rows: 0, rowsWithoutInvoice: 0, rowsLost: 0 }, findings: new FindingList(), options: {} },
      writer: new RowWriter(memoryRowStore()),
    };
    const dialect = { header: { row: 1, cells: columns }, map: mapHeader(columns, {}) };
    const rows = new CsvRows(reading, dialect, ',');
    for (let row = 1; row < records; row += 1) rows.take({ row, cells: row === 1 ? columns : [''] });
    rows.take({ row: records, cells: LINE });

    expect(await refusalOf(() => rows.end('line'))).toEqual(
      code === null ? undefined : expect.objectContaining({ code }),
    );
  });
});
