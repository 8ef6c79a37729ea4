/** No workbook can hold these corrections, or no person could work with it. Its message says why. */
export class UnfitForWorkbook extends Error {}

/** Every part of XML begins with it. */
export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
/** Name space of the elements of a workbook. */
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
/** Name space of references from one part to another. */
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument';

/** Names of the parts that are written row by row, or after the rows. */
export const PARTS = {
  sheet: 'xl/worksheets/sheet1.xml',
  styles: 'xl/styles.xml',
} as const;

/** The parts that say how a workbook of one sheet hangs together, by name. */
export function packageParts(sheetName: string): readonly (readonly [name: string, xml: string])[] {
  return [
    ['[Content_Types].xml', contentTypes()],
    ['_rels/.rels', relationships([['officeDocument', 'xl/workbook.xml']])],
    ['xl/workbook.xml', workbook(sheetName)],
    [
      'xl/_rels/workbook.xml.rels',
      relationships([
        ['worksheet', 'worksheets/sheet1.xml'],
        ['styles', 'styles.xml'],
      ]),
    ],
  ];
}

function workbook(sheetName: string): string {
  return `${XML_HEAD}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="${xmlText(sheetName)}" sheetId="1" r:id="rId1"/></sheets></workbook>`;
}

function relationships(targets: readonly (readonly [type: string, target: string])[]): string {
  const links = targets.map(
    ([type, target], at) => `<Relationship Id="rId${at + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
  );
  return `${XML_HEAD}<Relationships xmlns="${PACKAGE}">${links.join('')}</Relationships>`;
}

function contentTypes(): string {
  const parts = [
    ['xl/workbook.xml', 'sheet.main'],
    [PARTS.sheet, 'worksheet'],
    [PARTS.styles, 'styles'],
  ].map(([name, type]) => `<Override PartName="/${name}" ContentType="${CONTENT}.spreadsheetml.${type}+xml"/>`);
  return `${XML_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`;
}

/** Characters that XML cannot hold, and a line end that its readers would change. */
const NOT_IN_XML = /[^\P{Cc}\t\n]|[\uFFFE\uFFFF]|\p{Surrogate}/gu;
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text of a cell: what XML cannot hold is written as XLSX does (`_x000D_`), and what looks like that stays a text. */
export function cellText(text: string): string {
  return xmlText(
    text
      .replace(LOOKS_ESCAPED, '_x005F_')
      .replace(NOT_IN_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`),
  );
}

/** Text of XML without those characters, also of an attribute. */
export function xmlText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => MARKUP[sign] ?? '').replace(NOT_IN_XML, '');
}

/** The beginning of a long text, with a sign that there is more. */
export function clipped(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}
