import { afterAll, describe, expect, it } from 'vitest';
import type { RawRow } from '../../../../src/domain/row.ts';
import { CsvRows } from '../../../../src/ingest/csv/csv-rows.ts';
import { DecimalEvidence } from '../../../../src/ingest/csv/decimal-evidence.ts';
import { Damage } from '../../../../src/ingest/encoding/damage.ts';
import { FindingList } from '../../../../src/ingest/finding-list.ts';
import { LostRows } from '../../../../src/ingest/lost-rows.ts';
import { memoryRowStore } from '../../../../src/ingest/memory-row-store.ts';
import { mapHeader } from '../../../../src/ingest/profile/map-header.ts';
import { readFile } from '../../../../src/ingest/read-file.ts';
import { Refusal } from '../../../../src/ingest/refusal.ts';
import { RowWriter } from '../../../../src/ingest/row-writer.ts';
import { OdsStyles } from '../../../../src/ingest/workbook/ods/ods-styles.ts';
import { openWorkbook } from '../../../../src/ingest/workbook/open-workbook.ts';
import { odsOfContent, xlsxParts, zipOf } from '../../../support/files/workbook-file.ts';
import type { Parts } from '../../../support/files/workbook-file.ts';
import { HEADER, ingested, removeTemporaryFiles, temporaryFile } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const MEGABYTE = 'x'.repeat(1_000_000);
const LINE = ['F1', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.5', 'IVA_23'];

const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const number = (value: string): string => `<c><v>${value}</v></c>`;
const header = `<row r="1">${HEADER.split(',').map(text).join('')}</row>`;
const line = (row: number, { ref = 'F1', price = number('2.5'), more = '' } = {}): string =>
  `<row r="${row}">${[ref, ...LINE.slice(1, 5)].map(text).join('')}<c><v>1</v></c>${price}${text('IVA_23')}${more}</row>`;
const WHOLE = header + line(2);

function xlsx(sheetData: string, more: Parts = {}): Buffer {
  return zipOf(Object.entries(xlsxParts(sheetData, more)));
}

/** A worksheet with something beside its rows. */
function worksheet(before: string, after = ''): Buffer {
  const part = `<worksheet>${before}<sheetData>${WHOLE}</sheetData>${after}</worksheet>`;
  return xlsx('', { 'xl/worksheets/sheet1.xml': part });
}

/** Relationships and parts beside the sheet, as `xl/workbook.xml` refers to them. */
function related(relationships: readonly (readonly [id: string, type: string, target: string])[]): Parts {
  const all = [['r1', 'worksheet', 'worksheets/sheet1.xml'] as const, ...relationships].map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="x/${type}" Target="${target}"/>`,
  );
  return { 'xl/_rels/workbook.xml.rels': `<Relationships>${all.join('')}</Relationships>` };
}

/** `xl/workbook.xml` with sheets of these relationships. */
function sheets(...ids: readonly string[]): Parts {
  const all = ids.map((id, at) => `<sheet name="S${at}" sheetId="${at + 1}" r:id="${id}"/>`);
  return { 'xl/workbook.xml': `<workbook xmlns:r="r"><sheets>${all.join('')}</sheets></workbook>` };
}

const SHARED_MEGABYTE: Parts = {
  ...related([['r2', 'sharedStrings', 'sharedStrings.xml']]),
  'xl/sharedStrings.xml': `<sst><si><t>${MEGABYTE}</t></si></sst>`,
};

const odsCell = (value: string, attributes = ''): string =>
  `<table:table-cell office:value-type="string" ${attributes}><text:p>${value}</text:p></table:table-cell>`;
const odsRow = (cells: string, attributes = ''): string => `<table:table-row ${attributes}>${cells}</table:table-row>`;
const odsLine = (attributes = '', more = ''): string =>
  odsRow(LINE.map((value) => odsCell(value)).join('') + more, attributes);
const ODS_HEADER = odsRow(
  HEADER.split(',')
    .map((value) => odsCell(value))
    .join(''),
);
const odsTable = (inside: string): string => `<table:table table:name="A">${inside}</table:table>`;

async function outcome(file: Buffer): Promise<string> {
  const { result } = await ingested(temporaryFile(file, 'file'));
  return result.ok ? 'accepted' : (result.findings[0]?.code ?? '');
}

async function codesOfInvoices(file: Buffer): Promise<readonly string[]> {
  const { result, invoices } = await ingested(temporaryFile(file, 'file'));
  if (!result.ok) return result.findings.map(({ code }) => code);
  return invoices.flatMap((invoice) => (invoice.ok ? [] : invoice.findings.map(({ code }) => code)));
}

describe('a workbook of kilobytes', () => {
  it.each([
    [
      'one text of a megabyte in two cells of a row',
      xlsx(header + line(2, { more: '<c t="s"><v>0</v></c>'.repeat(2) }), SHARED_MEGABYTE),
    ],
    [
      'a row with a megabyte that stands for 70',
      odsOfContent(odsTable(ODS_HEADER + odsLine('table:number-rows-repeated="70"', odsCell(MEGABYTE)))),
    ],
    [
      'a megabyte in the first row of each of nine sheets',
      odsOfContent(odsTable(ODS_HEADER + odsLine()) + odsTable(odsRow(odsCell(MEGABYTE))).repeat(9)),
    ],
    ['a value in pieces of together a megabyte', xlsx(header + line(2, { more: pieces() }))],
    ['a number format of 1,200 characters', xlsx(WHOLE, styles('[$'.repeat(600)))],
    ['16,385 runs of hidden columns', worksheet(`<cols>${'<col min="1" max="1" hidden="1"/>'.repeat(16_385)}</cols>`)],
    ['16,385 runs of columns', odsOfContent(odsTable('<table:table-column/>'.repeat(16_385) + ODS_HEADER + odsLine()))],
  ])('with %s is refused', async (_, file) => {
    expect(await outcome(file)).toBe('workbook-too-large');
  });

  it('with 100,001 hidden table styles is refused', () => {
    const read = new OdsStyles();
    const all = (): void => {
      for (let at = 0; at < 100_001; at += 1) {
        read.open('style:style', { 'style:name': `t${at}` });
        read.open('style:table-properties', { 'table:display': 'false' });
      }
    };

    expect(all).toThrow('at most 100,000 cell styles');
  });

  it('hands long rows to the store before they fill the memory', async () => {
    const portions: number[] = [];
    const store = memoryRowStore();
    const append = (portion: readonly RawRow[]): Promise<void> => {
      portions.push(portion.length);
      return Promise.resolve();
    };
    const long = '<c t="s"><v>0</v></c>';
    const rows = Array.from({ length: 100 }, (_, at) =>
      line(at + 2, { ref: `F${at}`, price: at < 50 ? number('2') : long }),
    );
    const file = xlsx(header + rows.join(''), SHARED_MEGABYTE);
    await readFile({ path: temporaryFile(file, 'file.xlsx'), store: { ...store, append } });

    expect(portions.reduce((sum, length) => sum + length, 0)).toBe(100);
    expect(portions.length).toBeGreaterThan(1);
  });

  it('with a number of 20,000 digits has no number there, and none is searched for', async () => {
    const digits = `1.${'0'.repeat(20_000)}1`;

    expect(await codesOfInvoices(xlsx(header + line(2, { price: number(digits) })))).toContain('cell-unreadable');
  });

  it('with a format that fills in 1,000 zeros has no reference there', async () => {
    const style = `<number:number-style style:name="N"><number:number number:min-integer-digits="1000"/></number:number-style><style:style style:name="c" style:data-style-name="N"/>`;
    const cell = '<table:table-cell table:style-name="c" office:value-type="float" office:value="7"/>';
    const rest = LINE.slice(1).map((value) => odsCell(value));

    expect(await codesOfInvoices(odsOfContent(style + odsTable(ODS_HEADER + odsRow(cell + rest.join('')))))).toContain(
      'number-format-adds-text',
    );
  });

  it('with the same cells merged 2,000 times has one finding for the row', async () => {
    const merged = '<mergeCell ref="G2:H2"/>'.repeat(2000);

    expect(await codesOfInvoices(worksheet('', `<mergeCells>${merged}</mergeCells>`))).toEqual(['cell-merged']);
  });
});

describe('the reading of a workbook', () => {
  const cancelled = Object.assign(new Error('Cancelled'), { name: 'CancelledFailure' });

  it.each([
    ['XLSX', xlsx(WHOLE)],
    ['ODS', odsOfContent(odsTable(ODS_HEADER + odsLine()))],
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
    const file = odsOfContent(odsTable(ODS_HEADER + odsLine('table:number-rows-repeated="20000"')));
    const path = temporaryFile(file, 'file.ods');

    await expect(readFile({ path, store: { ...store, append }, signal: cancelling.signal })).rejects.toBe(cancelled);
    expect(appended).toBe(1);
  });
});

describe('a workbook is refused as damaged', () => {
  const cell = odsCell('x');

  it.each([
    ['when two sheets are one part', xlsx(WHOLE, { ...related([]), ...sheets('r1', 'r1') })],
    ['when a sheet names no relationship', xlsx(WHOLE, { ...related([]), ...sheets('r1', 'r2') })],
    [
      'when a cell holds a table',
      odsOfContent(
        odsTable(
          ODS_HEADER +
            odsRow(
              `<table:table-cell>${odsTable(odsRow(cell))}</table:table-cell>${LINE.map((value) => odsCell(value)).join('')}`,
            ) +
            odsLine(),
        ),
      ),
    ],
    ['when a row holds another one', odsOfContent(odsTable(ODS_HEADER + odsLine('', odsLine())))],
    ['when a row of XLSX holds another one', xlsx(header + line(2, { more: line(3) }))],
  ])('%s', async (_, file) => {
    expect(await outcome(file)).toBe('workbook-damaged');
  });
});

describe('a workbook', () => {
  it('is read beside a sheet that is a chart', async () => {
    const parts = { ...related([['r2', 'chartsheet', 'chartsheets/sheet1.xml']]), ...sheets('r1', 'r2') };

    expect(await outcome(xlsx(WHOLE, parts))).toBe('accepted');
  });

  it('has its cells merged in each row that a repeated one stands for', async () => {
    const cells = [
      ...LINE.slice(0, 6).map((value) => odsCell(value)),
      odsCell('2.5', 'table:number-columns-spanned="2"'),
    ];
    const rows = odsRow(`${cells.join('')}${odsCell('IVA_23')}`, 'table:number-rows-repeated="3"');
    const codes = await codesOfInvoices(odsOfContent(odsTable(ODS_HEADER + rows)));

    expect(codes.filter((code) => code === 'cell-merged')).toHaveLength(3);
  });
});

function pieces(): string {
  return `<c t="str"><v>${`${'x'.repeat(1100)}<a/>`.repeat(1000)}</v></c>`;
}

function styles(formatCode: string): Parts {
  return {
    ...related([['r2', 'styles', 'styles.xml']]),
    'xl/styles.xml': `<styleSheet><numFmts><numFmt numFmtId="200" formatCode="${formatCode}"/></numFmts><cellXfs><xf numFmtId="0"/></cellXfs></styleSheet>`,
  };
}

describe('a table that ends in the last row that a spreadsheet holds', () => {
  const LAST = 1_048_576;
  const cut = { ok: false, findings: [expect.objectContaining({ code: 'truncated', row: LAST })] };

  it('is refused as a workbook, for the rest may have been dropped', async () => {
    expect((await ingested(temporaryFile(xlsx(WHOLE + line(LAST, { ref: 'F2' }))))).result).toMatchObject(cut);
    expect((await ingested(temporaryFile(xlsx(WHOLE + line(LAST - 1, { ref: 'F2' }))))).result).toMatchObject({
      ok: true,
    });
  });

  it('is refused as a CSV file that such a program has saved', async () => {
    const csv = `${HEADER}\n${LINE.join(',')}\n${'\n'.repeat(LAST - 3)}${['F2', ...LINE.slice(1)].join(',')}\n`;

    expect((await ingested(temporaryFile(csv))).result).toMatchObject(cut);
  });

  it.each([
    [LAST - 1, 'complete'],
    [LAST, 'truncated'],
    [LAST + 1, 'complete'],
  ])('is told by its number of records alone: %d', async (records, expected) => {
    const columns = HEADER.split(',');
    const reading = {
      ...{ counts: { rows: 0, rowsWithoutInvoice: 0, rowsLost: 0 }, findings: new FindingList(), options: {} },
      writer: new RowWriter(memoryRowStore()),
    };
    const damage = new Damage();
    const rows = new CsvRows({
      ...{ reading, damage, lost: new LostRows(damage, 'invoice_ref'), delimiter: ',' },
      dialect: { header: { row: 1, cells: columns }, map: mapHeader(columns, {}) },
      evidence: { quantity: new DecimalEvidence('quantity'), unit_price: new DecimalEvidence('unit_price') },
    });
    for (let row = 1; row < records; row += 1) rows.take({ row, cells: row === 1 ? columns : [''] });
    rows.take({ row: records, cells: LINE });
    const end = (): string => {
      try {
        rows.end(true);
        return 'complete';
      } catch (error) {
        return error instanceof Refusal ? error.finding.code : String(error);
      }
    };

    expect(end()).toBe(expected);
  });
});
