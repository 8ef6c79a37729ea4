import { damaged } from '../limits.ts';
import { SheetHeads } from '../sheet-heads.ts';
import { SheetSize } from '../sheet-size.ts';
import type { Sheet, SheetRow, SheetRows, Workbook } from '../workbook.ts';
import { XmlReader, localName, readXml } from '../xml-reader.ts';
import { encrypted } from '../zip-archive.ts';
import type { ZipArchive } from '../zip-archive.ts';
import { Refusal } from '../../refusal.ts';
import { ContentHandler } from './content-handler.ts';
import { OdsStyles } from './ods-styles.ts';

const CONTENT = 'content.xml';
const STYLES = 'styles.xml';

interface OdsSheet extends Sheet {
  readonly index: number;
}

/** Opens an ODS file. All sheets stand in one part, which is read once for the first rows of each and once for the rows of one. */
export async function openOds(archive: ZipArchive, signal?: AbortSignal): Promise<Workbook> {
  await requireSpreadsheet(archive, signal);
  const sheets = await sheetsOf(archive, signal);
  const names = [...archive.names()];
  return {
    format: 'ods',
    sheets,
    recalculates: false,
    hasMacros: names.some((name) => name.startsWith('basic/') || name.startsWith('scripts/')),
    linksElsewhere: sheets.some(({ name }) => name.startsWith("'file:")),
    rows: (sheet, ending) => rowsOf(archive, sheets.find((one) => one === sheet)?.index ?? -1, ending),
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
    close: () => undefined,
    text: () => undefined,
  });
}

/** The beginning of a part that is one short line. */
async function firstText(archive: ZipArchive, part: string, signal?: AbortSignal): Promise<string> {
  for await (const chunk of archive.chunks(part, signal)) return chunk.toString('latin1').trim();
  return '';
}

async function stylesOf(archive: ZipArchive, signal?: AbortSignal): Promise<OdsStyles> {
  const styles = new OdsStyles();
  if (archive.has(STYLES)) await readXml(STYLES, archive.chunks(STYLES, signal), styles);
  return styles;
}

async function handlerOf(archive: ZipArchive, signal?: AbortSignal): Promise<ContentHandler> {
  return new ContentHandler(await stylesOf(archive, signal), new SheetSize(archive.packedBytes(CONTENT)));
}

async function sheetsOf(archive: ZipArchive, signal?: AbortSignal): Promise<readonly OdsSheet[]> {
  const handler = await handlerOf(archive, signal);
  const reader = new XmlReader(CONTENT, handler);
  const heads = new SheetHeads();
  for await (const chunk of archive.chunks(CONTENT, signal)) {
    reader.write(chunk);
    for (const { table, row, repeat } of handler.take()) {
      let at = 0;
      while (at < repeat && heads.add(table.index, { ...row, row: row.row + at })) at += 1;
    }
  }
  reader.end();
  if (handler.tables.length === 0) throw damaged('it has no sheet');
  return handler.tables.map(({ index, name, hidden }) => ({ index, name, hidden, head: heads.of(index) }));
}

function rowsOf(archive: ZipArchive, index: number, signal?: AbortSignal): SheetRows {
  const merged: SheetRows['merged'][number][] = [];
  const hiddenColumns: SheetRows['hiddenColumns'][number][] = [];
  return { portions: portions(), merged, hiddenColumns };

  async function* portions(): AsyncGenerator<Iterable<SheetRow>> {
    const handler = await handlerOf(archive, signal);
    const reader = new XmlReader(CONTENT, handler);
    for await (const chunk of archive.chunks(CONTENT, signal)) {
      reader.write(chunk);
      yield expanded(handler, index);
    }
    reader.end();
    yield expanded(handler, index);
    merged.push(...handler.merged.filter(({ table }) => table === index));
    hiddenColumns.push(...handler.hiddenColumns.filter(({ table }) => table === index));
  }
}

function* expanded(handler: ContentHandler, index: number): Generator<SheetRow> {
  for (const { table, row, repeat } of handler.take()) {
    if (table.index !== index) continue;
    for (let at = 0; at < repeat; at += 1) yield { ...row, row: row.row + at };
  }
}
