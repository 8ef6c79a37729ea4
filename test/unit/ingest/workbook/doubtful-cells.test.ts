import { afterAll, describe, expect, it } from 'vitest';
import type { IngestOptions } from '../../../../src/ingest/ingest-options.ts';
import { odsOfContent, xlsxParts, zipOf } from '../../../support/files/workbook-file.ts';
import type { Parts } from '../../../support/files/workbook-file.ts';
import { HEADER, ingested, removeTemporaryFiles, temporaryFile } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const COLUMNS = HEADER.split(',');
const CELLS = ['F1', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.5', 'IVA_23'].map(textXml);

/** The program that wrote the file asks for its formulas to be calculated again. */
const RECALCULATES: Parts = {
  'xl/workbook.xml':
    '<workbook xmlns:r="r"><sheets><sheet name="A" r:id="r1"/></sheets><calcPr fullCalcOnLoad="1"/></workbook>',
};

function textXml(text: string): string {
  return `<c t="inlineStr"><is><t>${text}</t></is></c>`;
}

/** One row with cells of its own by column, as XML. */
function rowXml(row: number, cells: Readonly<Record<string, string>> = {}): string {
  const xml = COLUMNS.map((column, at) => cells[column] ?? CELLS[at]).join('');
  return `<row r="${row}">${xml}</row>`;
}

function xlsx(rows: readonly string[], more: Parts = {}): Buffer {
  const header = `<row r="1">${COLUMNS.map(textXml).join('')}</row>`;
  return zipOf(Object.entries(xlsxParts(header + rows.join(''), more)));
}

/** Reference of each invoice with the codes of what keeps it from going out; under `file`, each code of rows in no invoice once. */
async function saidOf(file: Buffer, options: IngestOptions = {}): Promise<Readonly<Record<string, readonly string[]>>> {
  const { result, invoices } = await ingested(temporaryFile(file, 'a.xlsx'), options);
  const codes = invoices.map((invoice): [string, readonly string[]] => [
    invoice.ok ? invoice.invoice.ref : invoice.ref,
    invoice.ok ? [] : invoice.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code),
  ]);
  const ofFile = new Set(result.findings.filter(({ severity }) => severity === 'error').map(({ code }) => code));
  return { ...Object.fromEntries(codes), file: [...ofFile] };
}

describe('a cell with half of a character', () => {
  it.each(['invoice_ref', 'customer_name', 'description'])(
    'is not sent, for the ledger would keep another one: %s',
    async (column) => {
      const said = await saidOf(
        xlsx([rowXml(2, { [column]: textXml('F_xD800_1') }), rowXml(3, { invoice_ref: textXml('F2') })]),
      );

      expect(Object.values(said).flat()).toEqual(['control-character']);
      expect(said['F2']).toEqual([]);
    },
  );

  it('is not sent in a reference that is built of several columns, either', async () => {
    const said = await saidOf(
      xlsx([
        rowXml(2, { invoice_ref: textXml('A_xD800_') }),
        rowXml(3, { invoice_ref: textXml('A_xDC00_') }),
        rowXml(4, { invoice_ref: textXml('A\u{fffd}') }),
        rowXml(5, { invoice_ref: textXml('A') }),
      ]),
      { reference: { columns: ['invoice_ref', 'tax_code'], separator: '/' } },
    );

    expect(Object.values(said)).toEqual([['control-character'], ['control-character'], ['character-lost'], [], []]);
  });

  it('is no character that stands in two halves, as in a name with a picture', async () => {
    expect(await saidOf(xlsx([rowXml(2, { customer_name: textXml('Ana _xD83D__xDE00_') })]))).toEqual({
      F1: [],
      file: [],
    });
  });
});

describe('a row of formulas without a value', () => {
  it('is no blank row: the invoices beside it are not sent without it', async () => {
    const formulas = Object.fromEntries(COLUMNS.map((column) => [column, '<c><f>Data!A2</f></c>']));

    expect(await saidOf(xlsx([rowXml(2), rowXml(3, formulas)]))).toEqual({
      F1: ['line-may-be-missing'],
      file: ['rows-lost', 'formula-without-value'],
    });
  });
});

describe('a formula whose saved value is an empty text', () => {
  it.each(['<c t="str"><f>A1</f><v></v></c>', '<c t="s"><f>A1</f><v>0</v></c>'])('is a formula: %s', async (cell) => {
    const strings: Parts = {
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/sharedStrings" Target="s.xml"/></Relationships>',
      'xl/s.xml': '<sst><si><t/></si><si><t>x</t></si></sst>',
    };
    const file = (more: Parts): Buffer => xlsx([rowXml(2, { customer_name: cell })], { ...strings, ...more });

    const { result } = await ingested(temporaryFile(file({}), 'a.xlsx'));
    expect(result.findings.map(({ code }) => code)).toContain('formulas');
    expect(await saidOf(file(RECALCULATES))).toEqual({
      F1: expect.arrayContaining(['formula-not-calculated']) as unknown,
      file: [],
    });
  });

  it('is one in ODS too', async () => {
    const header = COLUMNS.map((column) => `<table:table-cell><text:p>${column}</text:p></table:table-cell>`).join('');
    const cells = ['F1', '501964843', 'Ana', 'EUR', 'Pão', '1', '2.5'].map(
      (text) => `<table:table-cell><text:p>${text}</text:p></table:table-cell>`,
    );
    const formula = '<table:table-cell table:formula="of:=A1" office:value-type="string" office:string-value=""/>';
    const table = `<table:table table:name="A"><table:table-row>${header}</table:table-row><table:table-row>${cells.join('')}${formula}</table:table-row></table:table>`;

    const { result } = await ingested(temporaryFile(odsOfContent(table), 'a.ods'));

    expect(result.findings.map(({ code }) => code)).toContain('formulas');
  });
});

describe('a format of another part of the styles', () => {
  it('does not take the place of the one that a cell has', async () => {
    const styles: Parts = {
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/styles" Target="styles.xml"/></Relationships>',
      'xl/styles.xml':
        '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/></cellXfs><dxfs><dxf><numFmt numFmtId="164" formatCode="0"/></dxf></dxfs></styleSheet>',
    };

    expect(await saidOf(xlsx([rowXml(2, { invoice_ref: '<c s="1"><v>42</v></c>' })], styles))).toEqual({
      '00042': [],
      file: [],
    });
  });
});

describe('a formula that fills several cells', () => {
  const ref = (text: string): Readonly<Record<string, string>> => ({ invoice_ref: textXml(text) });

  it.each(['array', 'dataTable'])('(%s) makes formulas of all of them', async (type) => {
    const first = { unit_price: `<c r="G2"><f t="${type}" ref="G2:G4">A1</f><v>2.5</v></c>` };
    const other = { unit_price: '<c><v>0</v></c>' };
    const rows = [
      rowXml(2, first),
      rowXml(3, { ...ref('F2'), ...other }),
      rowXml(4, { ...ref('F3'), unit_price: '<c/>' }),
      rowXml(5, ref('F4')),
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

    expect(await saidOf(xlsx([rowXml(2, cells)]))).toEqual({ file: ['workbook-damaged'] });
  });
});

describe('a reference that cannot be the one that was meant', () => {
  const STYLES: Parts = {
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/styles" Target="styles.xml"/></Relationships>',
    'xl/styles.xml':
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="&quot;FT &quot;0"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs></styleSheet>',
  };

  /** Of a customer to whom no other row can belong. */
  const OTHER = rowXml(3, { invoice_ref: textXml('F9'), customer_name: textXml('Eva') });

  it('is none: the invoices beside it are not sent without its row', async () => {
    const shown = { invoice_ref: '<c s="1"><v>12</v></c>' };
    const rows = [rowXml(2, { invoice_ref: textXml('FT 12') }), rowXml(3, shown)];

    expect(await saidOf(xlsx(rows, STYLES))).toEqual({
      'FT 12': ['line-may-be-missing'],
      file: ['rows-lost', 'number-format-adds-text'],
    });
  });

  it('is none in a row that looks like a total either', async () => {
    const wrong = { invoice_ref: '<c s="1"><v>12</v></c>', description: textXml('Total Care'), tax_code: '<c/>' };

    expect(await saidOf(xlsx([rowXml(2, wrong), OTHER], STYLES))).toEqual({
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
    const file = (column: string): Buffer => xlsx([rowXml(2, { [column]: cell }), OTHER], STYLES);

    expect(await saidOf(file('invoice_ref'))).toEqual({ F9: [], file: ['rows-lost', 'reference-damaged'] });
    for (const part of reference.columns)
      expect(await saidOf(file(part), { reference })).toEqual({
        'F9/Pão': [],
        file: ['rows-lost', 'reference-damaged'],
      });
    expect(await saidOf(file('merchant_nif'))).toEqual({ F9: [], file: ['rows-lost', 'tax-number-damaged'] });
  });
});

describe('an error as a text, as a corrections file holds it', () => {
  it.each(['#VALUE!', 'Err:502'])('%s is not sent, nor taken for a part of a reference', async (text) => {
    const reference = { columns: ['invoice_ref', 'description'], separator: '/' };
    const file = xlsx([
      rowXml(2, { description: textXml(text) }),
      rowXml(3, { invoice_ref: textXml('F9'), customer_name: textXml('Eva') }),
    ]);

    expect(await saidOf(file)).toEqual({ F1: ['spreadsheet-error'], F9: [], file: [] });
    expect(await saidOf(file, { reference })).toEqual({ 'F9/Pão': [], file: ['rows-lost', 'spreadsheet-error'] });
  });
});

describe('a number that is shown with more than its digits', () => {
  const digits = '<number:number number:min-integer-digits="8"/>';

  it.each([
    ['a text inside of it', digits.replace('/>', '><number:embedded-text>/</number:embedded-text></number:number>')],
    ['a power of ten', '<number:scientific-number/>'],
    ['a fraction', '<number:fraction/>'],
    ['its thousands only', '<number:number number:display-factor="1000"/>'],
    ['a text if it is positive', `${digits}<style:map style:apply-style-name="P0"/>`],
  ])('(ODS, %s) is no reference', async (_, format) => {
    const styles = `<office:automatic-styles>
      <number:number-style style:name="P0"><number:text>FT </number:text>${digits}</number:number-style>
      <number:number-style style:name="N1">${format}</number:number-style>
      <style:style style:name="ce1" style:data-style-name="N1"/></office:automatic-styles>`;
    const texts = (cells: readonly string[]): string =>
      cells
        .map((cell) => `<table:table-cell office:value-type="string"><text:p>${cell}</text:p></table:table-cell>`)
        .join('');
    const shown = '<table:table-cell table:style-name="ce1" office:value-type="float" office:value="20240001"/>';
    const row = (xml: string): string => `<table:table-row>${xml}</table:table-row>`;
    const rows = [
      row(texts(COLUMNS)),
      row(shown + texts(['501964843', 'Ana', 'EUR', 'Pão', '1', '2.5', 'IVA_23'])),
      row(texts(['F9', '501964843', 'Eva', 'EUR', 'Pão', '1', '2.5', 'IVA_23'])),
    ];
    const file = odsOfContent(`<table:table table:name="A">${rows.join('')}</table:table>`, {
      'styles.xml': `<a xmlns:office="o" xmlns:style="s" xmlns:number="n">${styles}</a>`,
    });

    expect(await saidOf(file)).toEqual({ F9: [], file: ['rows-lost', 'number-format-adds-text'] });
  });
});
