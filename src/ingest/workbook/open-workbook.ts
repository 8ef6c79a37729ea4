import { Refusal } from '../findings.ts';
import { damaged } from './limits.ts';
import { SheetHeads, type Workbook, type Sheet, type SheetRow, type SheetRows } from './workbook.ts';
import { openXlsx } from './open-xlsx.ts';
import { ZipArchive, encrypted } from './zip-archive.ts';
import { localName, readXml, takenOf } from './xml-reader.ts';
import { ContentHandler } from './ods-content-handler.ts';
import { OdsStyles } from './ods-styles.ts';

const ZIP = '504b0304';

/** Returns true for the first bytes of a ZIP archive, which XLSX and ODS files are. */
export function isArchive(head: Uint8Array): boolean {
  return Buffer.from(head.subarray(0, 4)).toString('hex') === ZIP;
}

/** Opens an XLSX or ODS file. The caller must close the workbook. @throws Refusal */
export async function openWorkbook(path: string, signal?: AbortSignal): Promise<Workbook> {
  const archive = await ZipArchive.open(path);
  try {
    const workbook = await opened(archive, signal);
    if (workbook.sheets.length === 0) throw damaged('it has no sheet');
    return workbook;
  } catch (error) {
    archive.close();
    throw error;
  }
}

/** Opens a workbook, calls `use` and closes the workbook. @throws Refusal as `openWorkbook` */
export async function withWorkbook<Result>(
  path: string,
  use: (workbook: Workbook) => Result | Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const workbook = await openWorkbook(path, signal);
  try {
    return await use(workbook);
  } finally {
    workbook.close();
  }
}

async function opened(archive: ZipArchive, signal?: AbortSignal): Promise<Workbook> {
  if (archive.has('content.xml')) return openOds(archive, signal);
  const names = [...archive.names()];
  if (names.some((name) => name.endsWith('workbook.bin')))
    throw foreign('a binary Excel workbook (XLSB). Save it as XLSX');
  if (!names.some((name) => name.endsWith('workbook.xml')))
    throw foreign('a ZIP archive that is no XLSX or ODS workbook. Drop the file that is in it');
  return openXlsx(archive, signal);
}

function foreign(found: string): Refusal {
  return new Refusal('format-foreign', `Expected CSV, JSON, NDJSON, XLSX or ODS, found ${found}`);
}

const CONTENT = 'content.xml';
const STYLES = 'styles.xml';

/** One part has all sheets: Lote reads it for the first rows of each, and again for the rows of one. */
async function openOds(archive: ZipArchive, signal?: AbortSignal): Promise<Workbook> {
  await requireSpreadsheet(archive, signal);
  const sheets = await sheetsOf(archive, signal);
  return {
    format: 'ods',
    sheets,
    recalculates: false,
    rows: (sheet, ending) => rowsOf(archive, sheets.indexOf(sheet), ending),
    close: () => archive.close(),
  };
}

async function requireSpreadsheet(archive: ZipArchive, signal?: AbortSignal): Promise<void> {
  if (archive.has('mimetype')) {
    const type = await firstText(archive, 'mimetype', signal);
    if (!/^application\/vnd\.oasis\.opendocument\.spreadsheet(?:-template)?$/.test(type))
      throw new Refusal('format-foreign', 'Expected CSV, JSON, NDJSON, XLSX or ODS, found another OpenDocument file');
  }
  const manifest = 'META-INF/manifest.xml';
  if (!archive.has(manifest)) return;
  await readXml(manifest, archive.chunks(manifest, signal), {
    open(name) {
      if (localName(name) === 'encryption-data') throw encrypted();
    },
  });
}

async function firstText(archive: ZipArchive, part: string, signal?: AbortSignal): Promise<string> {
  for await (const chunk of archive.chunks(part, signal)) return chunk.toString('latin1').trim();
  return '';
}

async function handlerOf(archive: ZipArchive, signal?: AbortSignal): Promise<ContentHandler> {
  const styles = new OdsStyles();
  if (archive.has(STYLES)) await readXml(STYLES, archive.chunks(STYLES, signal), styles);
  return new ContentHandler(styles, archive.packedBytes(CONTENT));
}

async function sheetsOf(archive: ZipArchive, signal?: AbortSignal): Promise<readonly Sheet[]> {
  const handler = await handlerOf(archive, signal);
  const heads = new SheetHeads();
  for await (const tables of takenOf(archive, CONTENT, handler, signal))
    for (const [index, rows] of tables.entries()) heads.addAll(index, rows);
  return handler.tables.map(({ name, hidden }, index) => ({ name, hidden, head: heads.of(index) }));
}

function rowsOf(archive: ZipArchive, index: number, signal?: AbortSignal): SheetRows {
  const merged: SheetRows['merged'][number][] = [];
  const hiddenColumns: SheetRows['hiddenColumns'][number][] = [];
  return { portions: portions(), merged, hiddenColumns };

  async function* portions(): AsyncGenerator<Iterable<SheetRow>> {
    const handler = await handlerOf(archive, signal);
    for await (const tables of takenOf(archive, CONTENT, handler, signal)) yield tables[index] ?? [];
    merged.push(...(handler.tables[index]?.sheet.merged ?? []));
    hiddenColumns.push(...(handler.tables[index]?.sheet.hiddenColumns ?? []));
  }
}
