import { afterAll, describe, expect, it } from 'vitest';
import { odsOfContent, xlsxParts, zipOf } from '../../../support/files/workbook-file.ts';
import type { Parts, ZipChange } from '../../../support/files/workbook-file.ts';
import { HEADER, ingested, removeTemporaryFiles, temporaryFile } from '../ingested.ts';

afterAll(removeTemporaryFiles);

const text = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
const header = `<row r="1">${HEADER.split(',').map(text).join('')}</row>`;
const line = (row: number, price = '<c><v>2.5</v></c>'): string =>
  `<row r="${row}">${['F1', '501964843', 'Ana', 'EUR', 'Pão'].map(text).join('')}<c><v>1</v></c>${price}${text('IVA_23')}</row>`;
const WHOLE = header + line(2);

function xlsx(sheetData: string, more: Parts = {}, change: ZipChange = {}): Buffer {
  return zipOf(Object.entries(xlsxParts(sheetData, more)), change);
}

const sheet = (inside: string, before = ''): Parts => ({
  'xl/worksheets/sheet1.xml': `<?xml version="1.0"?>${before}<worksheet>${inside}</worksheet>`,
});

async function refusal(file: Buffer): Promise<string> {
  const { result } = await ingested(temporaryFile(file, 'file.xlsx'));
  return result.ok ? 'accepted' : `${result.findings[0]?.code}: ${result.findings[0]?.message}`;
}

describe('a workbook', () => {
  it('whose parts are one and the same data is refused', async () => {
    expect(await refusal(xlsx(WHOLE, {}, { overlapping: true }))).toMatch(/^workbook-damaged: .*overlap/);
  });

  it('is read when nothing is wrong with it', async () => {
    expect(await refusal(xlsx(WHOLE))).toBe('accepted');
  });

  it.each([
    [
      'a sheet that inflates to more than 250 times its size',
      sheet(`<sheetData>${header}</sheetData>${' '.repeat(40e6)}`),
      'workbook-too-large',
    ],
    [
      'a text of two million characters',
      sheet(`<sheetData>${header}<row><c t="str"><v>${'x'.repeat(2e6)}</v></c></row></sheetData>`),
      'workbook-too-large',
    ],
    ['an attribute of two million characters', sheet(`<sheetData x="${'y'.repeat(2e6)}"/>`), 'workbook-too-large'],
    ['elements 10,000 deep', sheet('<a>'.repeat(10_000)), 'workbook-too-large'],
    [
      'entities that multiply',
      sheet('<sheetData>&b;</sheetData>', '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'),
      'workbook-damaged',
    ],
    [
      'an entity that names a file',
      sheet(
        '<sheetData><row><c t="str"><v>&x;</v></c></row></sheetData>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
      ),
      'workbook-damaged',
    ],
    ['an entity that nobody declared', sheet('<sheetData>&nbsp;</sheetData>'), 'workbook-damaged'],
    [
      'XML that ends in the middle',
      { 'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${header}` },
      'workbook-damaged',
    ],
    [
      'another encoding',
      { 'xl/worksheets/sheet1.xml': '<?xml version="1.0" encoding="ISO-8859-1"?><worksheet/>' },
      'workbook-damaged',
    ],
    [
      'bytes that are no UTF-8',
      { 'xl/worksheets/sheet1.xml': Buffer.from('<worksheet>\u00e9</worksheet>', 'latin1') },
      'workbook-damaged',
    ],
    [
      'a row number beyond the last row',
      sheet(`<sheetData>${header}${line(1_048_577)}</sheetData>`),
      'workbook-too-large',
    ],
    [
      'a cell beyond the last column',
      sheet(`<sheetData>${header}<row r="2"><c r="XFE2"><v>1</v></c></row></sheetData>`),
      'workbook-too-large',
    ],
    ['a row twice', sheet(`<sheetData>${header}${line(2)}${line(2)}</sheetData>`), 'workbook-damaged'],
    [
      'a cell of another row',
      sheet(`<sheetData>${header}<row r="2"><c r="A3"><v>1</v></c></row></sheetData>`),
      'workbook-damaged',
    ],
    [
      'a text that the workbook does not have',
      sheet(`<sheetData>${header}<row r="2"><c t="s"><v>5</v></c></row></sheetData>`),
      'workbook-damaged',
    ],
    [
      'cells merged over a million rows',
      sheet(`<sheetData>${WHOLE}</sheetData><mergeCells><mergeCell ref="A2:A1048576"/></mergeCells>`),
      'too-many-damaged-rows',
    ],
    ['no sheet part', { 'xl/_rels/workbook.xml.rels': '<Relationships/>' }, 'workbook-damaged'],
    [
      'a sheet outside of the file',
      {
        'xl/_rels/workbook.xml.rels':
          '<Relationships><Relationship Id="r1" Type="x/worksheet" TargetMode="External" Target="file:///etc/passwd"/></Relationships>',
      },
      'workbook-damaged',
    ],
  ])('with %s is refused', async (_, parts: Parts, code) => {
    expect(await refusal(xlsx(WHOLE, parts))).toMatch(new RegExp(`^${code}: `));
  });

  it.each<readonly [string, ZipChange, string]>([
    ['a part longer than it declares', { size: 100 }, 'workbook-damaged'],
    ['a wrong checksum', { crc: 1 }, 'workbook-damaged'],
    ['encrypted parts', { flags: 1 }, 'workbook-encrypted'],
  ])('with %s is refused', async (_, change, code) => {
    expect(await refusal(xlsx(WHOLE, {}, change))).toMatch(new RegExp(`^${code}: `));
  });

  it('with one part twice is refused: programs differ in which of them they read', async () => {
    const parts = Object.entries(xlsxParts(WHOLE));

    expect(await refusal(zipOf([...parts, ['XL/workbook.xml', '<workbook/>']]))).toMatch(/^workbook-damaged: /);
  });

  it('that declares 10,001 parts is refused before they are read', async () => {
    const file = xlsx(WHOLE);
    file.writeUInt16LE(10_001, file.length - 12);

    expect(await refusal(file)).toMatch(/^workbook-too-large: /);
  });

  it('that is cut off is refused', async () => {
    expect(await refusal(xlsx(WHOLE).subarray(0, -30))).toMatch(/^workbook-damaged: /);
  });

  it.each([
    ['a text document', zipOf([['word/document.xml', '<w/>']]), 'ZIP archive that is no XLSX or ODS'],
    ['a binary workbook', zipOf([['xl/workbook.bin', 'x']]), 'XLSB'],
    [
      'an OpenDocument text',
      zipOf([
        ['mimetype', 'application/vnd.oasis.opendocument.text'],
        ['content.xml', '<a/>'],
      ]),
      'another OpenDocument file',
    ],
  ])('is told from %s', async (_, file, found) => {
    expect(await refusal(file)).toContain(`format-foreign: Expected CSV, JSON, NDJSON, XLSX or ODS, found`);
    expect(await refusal(file)).toContain(found);
  });
});

describe('an ODS workbook', () => {
  const row = (attributes: string): string =>
    `<table:table-row ${attributes}><table:table-cell office:value-type="string" table:number-columns-repeated="9"><text:p>x</text:p></table:table-cell></table:table-row>`;
  const table = (inside: string): Buffer => odsOfContent(`<table:table table:name="A">${inside}</table:table>`);

  it.each([
    ['a row that stands for two million', table(row('table:number-rows-repeated="2000000"')), 'workbook-too-large'],
    ['a row that stands for none', table(row('table:number-rows-repeated="0"')), 'workbook-damaged'],
    [
      'a cell that stands for 20,000',
      table(
        '<table:table-row><table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="20000"/></table:table-row>',
      ),
      'workbook-too-large',
    ],
    [
      'spaces that stand for a billion',
      table(
        '<table:table-row><table:table-cell office:value-type="string"><text:p>a<text:s text:c="1000000000"/></text:p></table:table-cell></table:table-row>',
      ),
      'workbook-too-large',
    ],
    [
      'a sheet inside a cell',
      table(
        `<table:table-row><table:table-cell>${'</table:table-cell></table:table-row>'}<table:table table:name="B"/>`,
      ),
      'workbook-damaged',
    ],
    [
      'a password',
      odsOfContent('', {
        'META-INF/manifest.xml':
          '<m:manifest xmlns:m="m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>',
      }),
      'workbook-encrypted',
    ],
    ['no sheet', odsOfContent(''), 'workbook-damaged'],
  ])('with %s is refused', async (_, file, code) => {
    expect(await refusal(file)).toMatch(new RegExp(`^${code}: `));
  });
});
