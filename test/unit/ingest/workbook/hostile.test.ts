import { afterAll, describe, expect, it } from 'vitest';
import { OdsStyles } from '../../../../src/ingest/workbook/ods-styles.ts';
import { odsOfContent, xlsxParts, zipOf, type Parts, type ZipChange } from '../../../support/files/workbook-file.ts';
import { removeTemporaryFiles } from '../ingested.ts';
import { header, line, LINE, outcome, related, shared, styles, WHOLE, xlsx } from './sheet-xml.ts';
import { ODS_HEADER, ods, odsCell, odsCells, odsRow, odsTable } from './sheet-xml.ts';

afterAll(removeTemporaryFiles);

const TOO_LARGE = 'workbook-too-large';
const DAMAGED = 'workbook-damaged';
const MEGABYTE = 'x'.repeat(1_000_000);

const part = (content: string | Buffer): Parts => ({ 'xl/worksheets/sheet1.xml': content });
const sheet = (inside: string, before = ''): Parts =>
  part(`<?xml version="1.0"?>${before}<worksheet>${inside}</worksheet>`);
const data = (rows: string): Parts => sheet(`<sheetData>${header}${rows}</sheetData>`);
/** `xl/workbook.xml` with sheets of these relationships. */
const sheets = (...ids: readonly string[]): Parts => {
  const all = ids.map((id, at) => `<sheet name="S${at}" sheetId="${at + 1}" r:id="${id}"/>`);
  return { 'xl/workbook.xml': `<workbook xmlns:r="r"><sheets>${all.join('')}</sheets></workbook>` };
};
const odsLine = (attributes = '', more = ''): string => odsRow(odsCells(LINE) + more, attributes);
const pieces = `<c t="str"><v>${`${'x'.repeat(1100)}<a/>`.repeat(1000)}</v></c>`;
const ENTITIES = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
const ENTITY_OF_A_FILE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>';
const OUTSIDE = '<Relationship Id="r1" Type="x/worksheet" TargetMode="External" Target="file:///etc/passwd"/>';

describe('a workbook', () => {
  it('is read when nothing is wrong with it, also beside a sheet that is a chart', async () => {
    const chart = { ...related(['r2', 'chartsheet', 'chartsheets/sheet1.xml']), ...sheets('r1', 'r2') };

    expect([await outcome(xlsx(WHOLE)), await outcome(xlsx(WHOLE, chart))]).toEqual(['accepted', 'accepted']);
  });

  it.each<readonly [string, Parts, string]>([
    ['a sheet that inflates to more than 250 times its size', sheet(`<sheetData/>${' '.repeat(40e6)}`), TOO_LARGE],
    ['a text of two million characters', data(`<row><c t="str"><v>${'x'.repeat(2e6)}</v></c></row>`), TOO_LARGE],
    ['an attribute of two million characters', sheet(`<sheetData x="${'y'.repeat(2e6)}"/>`), TOO_LARGE],
    ['a value in pieces of together a megabyte', data(line(2, {}, pieces)), TOO_LARGE],
    ['a row number beyond the last row', data(line(1_048_577)), TOO_LARGE],
    ['a cell beyond the last column', data('<row r="2"><c r="XFE2"><v>1</v></c></row>'), TOO_LARGE],
    ['elements 10,000 deep', sheet('<a>'.repeat(10_000)), TOO_LARGE],
    ['a number format of 1,200 characters', styles(`<numFmt formatCode="${'[$'.repeat(600)}"/>`), TOO_LARGE],
    ['16,385 runs of hidden columns', sheet('<col min="1" max="1" hidden="1"/>'.repeat(16_385)), TOO_LARGE],
    ['entities that multiply', sheet('<sheetData>&b;</sheetData>', ENTITIES), DAMAGED],
    ['an entity that names a file', sheet('<row><c t="str"><v>&x;</v></c></row>', ENTITY_OF_A_FILE), DAMAGED],
    ['an entity that nobody declared', sheet('<sheetData>&nbsp;</sheetData>'), DAMAGED],
    ['XML that ends in the middle', part(`<worksheet><sheetData>${header}`), DAMAGED],
    ['another encoding', part('<?xml version="1.0" encoding="ISO-8859-1"?><worksheet/>'), DAMAGED],
    ['bytes that are no UTF-8', part(Buffer.from('<worksheet>\u00e9</worksheet>', 'latin1')), DAMAGED],
    ['a row twice', data(line(2) + line(2)), DAMAGED],
    ['a row inside another one', data(line(2, {}, line(3))), DAMAGED],
    ['a cell of another row', data('<row r="2"><c r="A3"><v>1</v></c></row>'), DAMAGED],
    ['a text that the workbook does not have', data('<row r="2"><c t="s"><v>5</v></c></row>'), DAMAGED],
    ['no sheet part', { 'xl/_rels/workbook.xml.rels': '<Relationships/>' }, DAMAGED],
    ['a sheet outside of it', { 'xl/_rels/workbook.xml.rels': `<Relationships>${OUTSIDE}</Relationships>` }, DAMAGED],
    ['two sheets of one part', { ...related(), ...sheets('r1', 'r1') }, DAMAGED],
    ['a sheet that names no relationship', { ...related(), ...sheets('r1', 'r2') }, DAMAGED],
    [
      'cells merged over a million rows',
      sheet(`<sheetData>${WHOLE}</sheetData><mergeCell ref="A2:A1048576"/>`),
      'too-many-damaged-rows',
    ],
  ])('with %s is refused', async (_, parts, code) => {
    expect(await outcome(xlsx(WHOLE, parts))).toMatch(new RegExp(`^${code}: `));
  });

  it.each<readonly [string, ZipChange, RegExp]>([
    ['a part longer than it declares', { size: 100 }, /^workbook-damaged: /],
    ['a wrong checksum', { crc: 1 }, /^workbook-damaged: /],
    ['encrypted parts', { flags: 1 }, /^workbook-encrypted: /],
    ['parts that are one and the same data', { overlapping: true }, /^workbook-damaged: .*overlap/],
  ])('with %s is refused', async (_, change, said) => {
    expect(await outcome(xlsx(WHOLE, {}, change))).toMatch(said);
  });

  const bigRow = xlsx(header + line(2, {}, '<c t="s"><v>0</v></c>'.repeat(2)), shared(`<si><t>${MEGABYTE}</t></si>`));
  const countless = xlsx(WHOLE);
  countless.writeUInt16LE(10_001, countless.length - 12);
  const otherText = { mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': '<a/>' };
  const FOREIGN = 'format-foreign: Expected CSV, JSON, NDJSON, XLSX or ODS, found';
  it.each([
    ['has one text of a megabyte twice in a row', bigRow, `${TOO_LARGE}: `],
    ['has one part twice', zipOf([...Object.entries(xlsxParts(WHOLE)), ['XL/workbook.xml', '<workbook/>']]), DAMAGED],
    ['declares 10,001 parts', countless, `${TOO_LARGE}: `],
    ['is cut off', xlsx(WHOLE).subarray(0, -30), `${DAMAGED}: `],
    ['is a text document', zipOf([['word/document.xml', '<w/>']]), `${FOREIGN} a ZIP archive that is no XLSX or ODS`],
    ['is a binary workbook', zipOf([['xl/workbook.bin', 'x']]), `${FOREIGN} a binary Excel workbook (XLSB)`],
    ['is an OpenDocument text', zipOf(Object.entries(otherText)), `${FOREIGN} another OpenDocument file`],
  ])('that %s is refused', async (_, file, said) => {
    expect(await outcome(file)).toContain(said);
  });
});

describe('an ODS workbook', () => {
  const repeated = (count: number): string => odsLine(`table:number-rows-repeated="${count}"`);
  const one = (attributes: string, inside = ''): string =>
    odsRow(`<table:table-cell office:value-type="string" ${attributes}>${inside}</table:table-cell>`);
  const locked = '<m:manifest xmlns:m="m"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>';
  const inCell = odsRow(`<table:table-cell>${odsTable(odsRow(odsCell('x')))}</table:table-cell>${odsCells(LINE)}`);
  const columns = '<table:table-column/>'.repeat(16_385);

  it.each([
    ['a row that stands for two million', ods(repeated(2_000_000)), TOO_LARGE],
    ['a row that stands for none', ods(repeated(0)), DAMAGED],
    ['a megabyte that stands for 70', ods(odsLine('table:number-rows-repeated="70"', odsCell(MEGABYTE))), TOO_LARGE],
    [
      'a megabyte in the first row of each of nine sheets',
      odsOfContent(odsTable(ODS_HEADER + odsLine()) + odsTable(odsRow(odsCell(MEGABYTE))).repeat(9)),
      TOO_LARGE,
    ],
    ['a cell standing for 20,000', ods(one('table:number-columns-repeated="20000"', '<text:p>1</text:p>')), TOO_LARGE],
    ['spaces that stand for a billion', ods(one('', '<text:p>a<text:s text:c="1000000000"/></text:p>')), TOO_LARGE],
    ['16,385 runs of columns', odsOfContent(odsTable(columns + ODS_HEADER + odsLine())), TOO_LARGE],
    ['a sheet inside a sheet', ods(`${odsLine()}<table:table table:name="B"/>`), DAMAGED],
    ['a table in a cell', ods(inCell + odsLine()), DAMAGED],
    ['a row inside another one', ods(odsLine('', odsLine())), DAMAGED],
    ['a password', odsOfContent('', { 'META-INF/manifest.xml': locked }), 'workbook-encrypted'],
    ['no sheet', odsOfContent(''), DAMAGED],
  ])('with %s is refused', async (_, file, code) => {
    expect(await outcome(file)).toMatch(new RegExp(`^${code}: `));
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
});
