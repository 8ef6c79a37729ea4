/** Thrown if no workbook can hold these corrections or no person could work with it. Its message says why. */
export class UnfitForWorkbook extends Error {}

/** The first line of every XML part. */
export const XML_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
/** Name space of the elements of a workbook. */
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Names of the parts that are written row by row, or after the rows. */
export const PARTS = {
  sheet: 'xl/worksheets/sheet1.xml',
  styles: 'xl/styles.xml',
} as const;

/** Returns the fixed parts of a workbook with one sheet, each with its name. */
export function packageParts(sheetName: string): readonly (readonly [name: string, xml: string])[] {
  const types =
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>' +
    `<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>` +
    `<Override PartName="/${PARTS.sheet}" ContentType="${CONTENT}.worksheet+xml"/>` +
    `<Override PartName="/${PARTS.styles}" ContentType="${CONTENT}.styles+xml"/>`;
  const sheets = `<sheets><sheet name="${xmlText(sheetName)}" sheetId="1" r:id="rId1"/></sheets>`;
  return [
    ['[Content_Types].xml', `${XML_HEAD}<Types xmlns="${PACKAGE}/content-types">${types}</Types>`],
    ['_rels/.rels', relationships(relationship(1, 'officeDocument', 'xl/workbook.xml'))],
    ['xl/workbook.xml', `${XML_HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${sheets}</workbook>`],
    [
      'xl/_rels/workbook.xml.rels',
      relationships(relationship(1, 'worksheet', 'worksheets/sheet1.xml') + relationship(2, 'styles', 'styles.xml')),
    ],
  ];
}

function relationship(id: number, type: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
}

function relationships(links: string): string {
  return `${XML_HEAD}<Relationships xmlns="${PACKAGE}/relationships">${links}</Relationships>`;
}

/** Characters that XML cannot hold, and a line end that XML readers would change. */
const NOT_IN_XML = /[^\P{Cc}\t\n]|[\uFFFE\uFFFF]|\p{Surrogate}/gu;
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;
const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a cell's text: what XML cannot hold becomes an escape of XLSX (`_x000D_`); text that looks like one stays text. */
export function cellText(text: string): string {
  return xmlText(
    text
      .replace(LOOKS_ESCAPED, '_x005F_')
      .replace(NOT_IN_XML, (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`),
  );
}

/** Escapes text or an attribute for XML, without the characters that it cannot hold. */
function xmlText(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => MARKUP[sign] ?? '').replace(NOT_IN_XML, '');
}

/** Returns the beginning of a long text, with a sign that it is cut. */
export function clipped(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text;
}

/** Look of a cell beside its number format. A wrong cell has a fill, and a frame and bold type that need no colour. */
export type Look = 'plain' | 'heading' | 'wrong';

/** Smaller numbers belong to built-in formats, which need no code. */
const FIRST_OWN_FORMAT = 164;
/** Excel takes longer or more formats for damage and drops all formats. */
const LONGEST_FORMAT = 255;
const MOST_FORMATS = 200;
const AMBER = 'FFFFE699';
const RED = 'FFC00000';
const SIDES = ['left', 'right', 'top', 'bottom'];

/** The cell styles of a workbook; each gets its number on first use. */
export class CellStyles {
  readonly #styles: { readonly format: number; readonly look: Look }[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #codes = new Map<string, number>();

  constructor() {
    // The first style applies to all cells without a style.
    this.numberOf(null, 'plain');
  }

  numberOf(format: string | number | null, look: Look): number {
    const id = typeof format === 'string' ? this.#formatOf(format) : (format ?? 0);
    const key = `${id} ${look}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.#styles.length);
    return this.#styles.push({ format: id, look }) - 1;
  }

  xml(): string {
    const codes = [...this.#codes].map(([code, id]) => `<numFmt numFmtId="${id}" formatCode="${xmlText(code)}"/>`);
    const styles = this.#styles.map(
      ({ format, look }) =>
        `<xf numFmtId="${format}" fontId="${look === 'plain' ? 0 : 1}" fillId="${look === 'wrong' ? 2 : 0}" borderId="${look === 'wrong' ? 1 : 0}" xfId="0" applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"/>`,
    );
    const frame = SIDES.map((side) => `<${side} style="medium"><color rgb="${RED}"/></${side}>`).join('');
    const font = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
    return [
      `${XML_HEAD}<styleSheet xmlns="${MAIN}">`,
      codes.length === 0 ? '' : `<numFmts count="${codes.length}">${codes.join('')}</numFmts>`,
      `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts>`,
      '<fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>',
      `<fill><patternFill patternType="solid"><fgColor rgb="${AMBER}"/><bgColor indexed="64"/></patternFill></fill></fills>`,
      `<borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border><border>${frame}<diagonal/></border></borders>`,
      '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>',
      `<cellXfs count="${styles.length}">${styles.join('')}</cellXfs>`,
      '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>',
    ].join('');
  }

  #formatOf(code: string): number {
    const known = this.#codes.get(code);
    if (known !== undefined) return known;
    if (code.length > LONGEST_FORMAT || this.#codes.size === MOST_FORMATS)
      throw new UnfitForWorkbook(
        `it has number formats of more than ${LONGEST_FORMAT} characters, or more than ${MOST_FORMATS} of them`,
      );
    const id = FIRST_OWN_FORMAT + this.#codes.size;
    this.#codes.set(code, id);
    return id;
  }
}
