import { xmlText } from './xml-text.ts';

/** Every part of XML begins with it. */
export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
/** Name space of the elements of a workbook. */
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
/** Name space of references from one part to another. */
export const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const CONTENT = 'application/vnd.openxmlformats-officedocument';

/** Names of the parts that are written row by row, or after the rows. */
export const PARTS = {
  sheet: 'xl/worksheets/sheet1.xml',
  styles: 'xl/styles.xml',
  notes: 'xl/comments1.xml',
  noteBoxes: 'xl/drawings/vmlDrawing1.vml',
} as const;

/** The parts that say how a workbook of one sheet with notes hangs together, by name. */
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
    [
      'xl/worksheets/_rels/sheet1.xml.rels',
      relationships([
        ['vmlDrawing', '../drawings/vmlDrawing1.vml'],
        ['comments', '../comments1.xml'],
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
    [PARTS.notes, 'comments'],
  ].map(([name, type]) => `<Override PartName="/${name}" ContentType="${CONTENT}.spreadsheetml.${type}+xml"/>`);
  return `${XML_HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="vml" ContentType="${CONTENT}.vmlDrawing"/>${parts.join('')}</Types>`;
}
