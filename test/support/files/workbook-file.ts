import { crc32, deflateRawSync } from 'node:zlib';

/** Parts of an archive by name. */
export type Parts = Readonly<Record<string, string | Buffer>>;

export interface ZipChange {
  /** The size in the directory entry, as a hostile or broken archive declares it. */
  readonly size?: number;
  readonly flags?: number;
  readonly crc?: number;
  /** True if all parts begin where the first part begins. */
  readonly overlapping?: boolean;
}

/** Makes a ZIP archive of these parts; a name may occur twice. */
export function zipOf(
  parts: readonly (readonly [name: string, content: string | Buffer])[],
  change: ZipChange = {},
): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of parts) {
    const bytes = Buffer.isBuffer(content) ? content : Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(change.flags ?? 0, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(change.crc ?? crc32(bytes), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(change.size ?? bytes.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const file = Buffer.concat([Buffer.from('504b0304', 'hex'), fields, Buffer.from(name), packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(change.overlapping === true ? 0 : offset, 10);
    directory.push(Buffer.from('504b01021400', 'hex'), fields, entry, Buffer.from(name));
    files.push(file);
    offset += file.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('504b0506', 'hex');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, list, end]);
}

const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

/** Returns the parts of an XLSX file with one sheet of these rows in XML; `more` adds or replaces parts. */
export function xlsxParts(sheetData: string, more: Parts = {}): Parts {
  const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
  return {
    '_rels/.rels': `${head}<Relationships xmlns="${PACKAGE}"><Relationship Id="r1" Type="${RELATIONSHIPS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${head}<workbook xmlns="${MAIN}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${head}<Relationships xmlns="${PACKAGE}"><Relationship Id="r1" Type="${RELATIONSHIPS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${head}<worksheet xmlns="${MAIN}"><sheetData>${sheetData}</sheetData></worksheet>`,
    ...more,
  };
}

/** A cell of a table: a text, or a number as its decimal text. */
export type TableCell = string | { readonly number: string };

/** Makes an XLSX file with one sheet from a table. */
export function xlsxOf(table: readonly (readonly TableCell[])[], more: Parts = {}): Buffer {
  const rows = table.map((cells, row) => `<row r="${row + 1}">${cells.map(cellXml).join('')}</row>`).join('');
  return zipOf(Object.entries(xlsxParts(rows, more)));
}

function cellXml(cell: TableCell): string {
  if (typeof cell !== 'string') return `<c><v>${cell.number}</v></c>`;
  return `<c t="inlineStr"><is><t xml:space="preserve">${xmlText(cell)}</t></is></c>`;
}

function xmlText(text: string): string {
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/\r/g, '_x000D_');
}

/** Makes an ODS file with one sheet from a table. */
export function odsOf(table: readonly (readonly TableCell[])[]): Buffer {
  const rows = table.map((cells) => `<table:table-row>${cells.map(odsCellXml).join('')}</table:table-row>`).join('');
  return odsOfContent(`<table:table table:name="Sheet1">${rows}</table:table>`);
}

/** Makes an ODS file with this content in its spreadsheet element. */
export function odsOfContent(tables: string, more: Parts = {}): Buffer {
  const names = ['office', 'table', 'text', 'style', 'number', 'draw'].map(
    (name) => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`,
  );
  const content = `<?xml version="1.0" encoding="UTF-8"?><office:document-content ${names.join(' ')}><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`;
  const mimetype = 'application/vnd.oasis.opendocument.spreadsheet';
  return zipOf(Object.entries({ mimetype, 'content.xml': content, ...more }));
}

function odsCellXml(cell: TableCell): string {
  if (typeof cell !== 'string')
    return `<table:table-cell office:value-type="float" office:value="${cell.number}"><text:p>x</text:p></table:table-cell>`;
  const paragraphs = cell.split('\n').map(
    (line) =>
      `<text:p>${line
        .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
        .replace(/ /g, '<text:s/>')
        .replace(/\t/g, '<text:tab/>')}</text:p>`,
  );
  return `<table:table-cell office:value-type="string">${paragraphs.join('')}</table:table-cell>`;
}
