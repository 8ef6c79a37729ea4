import { afterAll, describe, expect, it } from 'vitest';
import type { Parts } from '../../../support/files/workbook-file.ts';
import { ingested, removeTemporaryFiles, temporaryFile } from '../ingested.ts';
import * as sheet from './sheet-xml.ts';
import { COLUMNS, header, LINE, line, ods, odsCells, odsRow, saidOf, styles } from './sheet-xml.ts';

afterAll(removeTemporaryFiles);

/** The program that wrote the file asks for its formulas to be calculated again. */
const RECALCULATES: Parts = {
  'xl/workbook.xml':
    '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="r1"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>',
};

const xlsx = (rows: readonly string[], more: Parts = {}): Buffer => sheet.xlsx(header + rows.join(''), more);

describe('a cell with half of a character', () => {
  it.each(['invoice_ref', 'customer_name', 'description'])(
    'is not sent, for the ledger would keep another one: %s',
    async (column) => {
      const said = await saidOf(
        xlsx([line(2, { [column]: sheet.text('F_xD800_1') }), line(3, { invoice_ref: sheet.text('F2') })]),
      );

      expect(Object.values(said).flat()).toEqual(['control-character']);
      expect(said['F2']).toEqual([]);
    },
  );

  it('is not sent in a reference that is built of several columns, either', async () => {
    const said = await saidOf(
      xlsx([
        line(2, { invoice_ref: sheet.text('A_xD800_') }),
        line(3, { invoice_ref: sheet.text('A_xDC00_') }),
        line(4, { invoice_ref: sheet.text('A\u{fffd}') }),
        line(5, { invoice_ref: sheet.text('A') }),
      ]),
      { reference: { columns: ['invoice_ref', 'tax_code'], separator: '/' } },
    );

    expect(Object.values(said)).toEqual([['control-character'], ['control-character'], ['character-lost'], [], []]);
  });

  it('is no character that stands in two halves, as in a name with a picture', async () => {
    expect(await saidOf(xlsx([line(2, { customer_name: sheet.text('Ana _xD83D__xDE00_') })]))).toEqual({
      F1: [],
      file: [],
    });
  });
});

it('a row of formulas without a value is no blank row: the invoices beside it are not sent without it', async () => {
  const formulas = Object.fromEntries(COLUMNS.map((column) => [column, '<c><f>Data!A2</f></c>']));

  expect(await saidOf(xlsx([line(2), line(3, formulas)]))).toEqual({
    F1: ['line-may-be-missing'],
    file: ['rows-lost', 'formula-without-value'],
  });
});

describe('a formula whose saved value is an empty text', () => {
  it.each(['<c t="str"><f>A1</f><v></v></c>', '<c t="s"><f>A1</f><v>0</v></c>'])('is a formula: %s', async (cell) => {
    const strings = sheet.shared('<si><t/></si><si><t>x</t></si>');
    const file = (more: Parts): Buffer => xlsx([line(2, { customer_name: cell })], { ...strings, ...more });

    const { result } = await ingested(temporaryFile(file({}), 'a.xlsx'));
    expect(result.findings.map(({ code }) => code)).toContain('formulas');
    expect(await saidOf(file(RECALCULATES))).toEqual({
      F1: expect.arrayContaining(['formula-not-calculated']) as unknown,
      file: [],
    });
  });

  it('is one in ODS too', async () => {
    const formula = '<table:table-cell table:formula="of:=A1" office:value-type="string" office:string-value=""/>';

    const { result } = await ingested(temporaryFile(ods(odsRow(odsCells(LINE.slice(0, 7)) + formula)), 'a.ods'));

    expect(result.findings.map(({ code }) => code)).toContain('formulas');
  });
});

it('a format of another part of the styles does not take the place of the one that a cell has', async () => {
  const cells = '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs>';
  const formats = '<numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts>';
  const other = '<dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs>';
  const file = xlsx([line(2, { invoice_ref: '<c s="1"><v>42</v></c>' })], styles(formats + cells + other));

  expect(await saidOf(file)).toEqual({ '00042': [], file: [] });
});

describe('a formula that fills several cells', () => {
  const ref = (text: string): Readonly<Record<string, string>> => ({ invoice_ref: sheet.text(text) });

  it.each(['array', 'dataTable'])('(%s) makes formulas of all of them', async (type) => {
    const first = { unit_price: `<c r="G2"><f t="${type}" ref="G2:G4">A1</f><v>2.5</v></c>` };
    const other = { unit_price: '<c><v>0</v></c>' };
    const rows = [
      line(2, first),
      line(3, { ...ref('F2'), ...other }),
      line(4, { ...ref('F3'), unit_price: '<c/>' }),
      line(5, ref('F4')),
    ];

    expect(await saidOf(xlsx(rows, RECALCULATES))).toEqual({
      F1: ['formula-not-calculated'],
      F2: ['formula-not-calculated'],
      F3: expect.arrayContaining(['formula-without-value']) as unknown,
      F4: [],
      file: [],
    });
  });

  it.each([
    ['that overlaps another one', 'F2:G4', 'G2:G3'],
    ['that begins elsewhere', 'F2', 'A2:G3'],
    ['of cells that no sheet has', 'F2', 'G2:1'],
  ])('%s is refused', async (_, quantity, price) => {
    const cells = {
      quantity: `<c><f t="array" ref="${quantity}">A1</f><v>1</v></c>`,
      unit_price: `<c><f t="array" ref="${price}">A1</f><v>1</v></c>`,
    };

    expect(await saidOf(xlsx([line(2, cells)]))).toEqual({ file: ['workbook-damaged'] });
  });
});

describe('a reference that cannot be the one that was meant', () => {
  const STYLES = styles(
    '<numFmts><numFmt numFmtId="164" formatCode="&quot;FT &quot;0"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs>',
  );

  /** Of a customer to whom no other row can belong. */
  const OTHER = line(3, { invoice_ref: sheet.text('F9'), customer_name: sheet.text('Eva') });

  it('is none: the invoices beside it are not sent without its row', async () => {
    const shown = { invoice_ref: '<c s="1"><v>12</v></c>' };
    const rows = [line(2, { invoice_ref: sheet.text('FT 12') }), line(3, shown)];

    expect(await saidOf(xlsx(rows, STYLES))).toEqual({
      'FT 12': ['line-may-be-missing'],
      file: ['rows-lost', 'number-format-adds-text'],
    });
  });

  it('is none in a row that looks like a total either', async () => {
    const wrong = { invoice_ref: '<c s="1"><v>12</v></c>', description: sheet.text('Total Care'), tax_code: '<c/>' };

    expect(await saidOf(xlsx([line(2, wrong), OTHER], STYLES))).toEqual({
      F9: [],
      file: ['rows-lost', 'number-format-adds-text'],
    });
  });

  it.each([
    ['a date', '<c s="2"><v>46054</v></c>'],
    ['a time', '<c s="3"><v>0.25</v></c>'],
    ['a date in its own type', '<c t="d"><v>2026-02</v></c>'],
  ])('is %s, as a whole, as one of its parts, and as a tax number', async (_, cell) => {
    const reference = { columns: ['invoice_ref', 'description'], separator: '/' };
    const file = (column: string): Buffer => xlsx([line(2, { [column]: cell }), OTHER], STYLES);

    expect(await saidOf(file('invoice_ref'))).toEqual({ F9: [], file: ['rows-lost', 'reference-damaged'] });
    for (const part of reference.columns)
      expect(await saidOf(file(part), { reference })).toEqual({
        'F9/Pão': [],
        file: ['rows-lost', 'reference-damaged'],
      });
    expect(await saidOf(file('merchant_nif'))).toEqual({ F9: [], file: ['rows-lost', 'tax-number-damaged'] });
  });
});

it.each(['#VALUE!', 'Err:502'])(
  'an error as a text, as a corrections file holds it %s is not sent, nor taken for a part of a reference',
  async (text) => {
    const reference = { columns: ['invoice_ref', 'description'], separator: '/' };
    const file = xlsx([
      line(2, { description: sheet.text(text) }),
      line(3, { invoice_ref: sheet.text('F9'), customer_name: sheet.text('Eva') }),
    ]);

    expect(await saidOf(file)).toEqual({ F1: ['spreadsheet-error'], F9: [], file: [] });
    expect(await saidOf(file, { reference })).toEqual({ 'F9/Pão': [], file: ['rows-lost', 'spreadsheet-error'] });
  },
);

describe('a number that is shown with more than its digits', () => {
  const digits = '<number:number number:min-integer-digits="8"/>';

  it.each([
    ['a text inside of it', digits.replace('/>', '><number:embedded-text>/</number:embedded-text></number:number>')],
    ['a power of ten', '<number:scientific-number/>'],
    ['a fraction', '<number:fraction/>'],
    ['its thousands only', '<number:number number:display-factor="1000"/>'],
    ['a text if it is positive', `${digits}<style:map style:apply-style-name="P0"/>`],
  ])('(ODS, %s) is no reference', async (_, format) => {
    const styled = `<office:automatic-styles>
      <number:number-style style:name="P0"><number:text>FT </number:text>${digits}</number:number-style>
      <number:number-style style:name="N1">${format}</number:number-style>
      <style:style style:name="ce1" style:data-style-name="N1"/></office:automatic-styles>`;
    const shown = '<table:table-cell table:style-name="ce1" office:value-type="float" office:value="20240001"/>';
    const rows =
      odsRow(shown + odsCells(LINE.slice(1))) + odsRow(odsCells(['F9', '501964843', 'Eva', ...LINE.slice(3)]));
    const file = ods(rows, '', { 'styles.xml': `<a xmlns:office="o" xmlns:style="s" xmlns:number="n">${styled}</a>` });

    expect(await saidOf(file)).toEqual({ F9: [], file: ['rows-lost', 'number-format-adds-text'] });
  });
});
