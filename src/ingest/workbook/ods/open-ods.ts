import { HEADER_WITHIN, damaged } from '../limits.ts';
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
  await requireSpreadsheet(archive);
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

async function requireSpreadsheet(archive: ZipArchive): Promise<void> {
  if (archive.has('mimetype')) {
    const type = await firstText(archive, 'mimetype');
    if (!/^application\/vnd\.oasis\.opendocument\.spreadsheet(?:-template)?$/.test(type))
      throw new Refusal('format-foreign', 'Expected CSV, JSON, NDJSON, XLSX or ODS, found another OpenDocument file');
  }
  const manifest = 'META-INF/manifest.xml';
  if (!archive.has(manifest)) return;
  await readXml(manifest, archive.chunks(manifest), {
    open(name) {
      if (localName(name) === 'encryption-data') throw encrypted();
    },
    close: () => undefined,
    text: () => undefined,
  });
}

/** The beginning of a part that is one short line. */
async function firstText(archive: ZipArchive, part: string): Promise<string> {
  for await (const chunk of archive.chunks(part)) return chunk.toString('latin1').trim();
  return '';
}

async function stylesOf(archive: ZipArchive): Promise<OdsStyles> {
  const styles = new OdsStyles();
  if (archive.has(STYLES)) await readXml(STYLES, archive.chunks(STYLES), styles);
  return styles;
}

async function sheetsOf(archive: ZipArchive, signal?: AbortSignal): Promise<readonly OdsSheet[]> {
  const handler = new ContentHandler(await stylesOf(archive));
  const reader = new XmlReader(CONTENT, handler);
  const heads = new Map<number, SheetRow[]>();
  for await (const chunk of archive.chunks(CONTENT, signal)) {
    reader.write(chunk);
    for (const { table, row, repeat } of handler.take()) {
      const head = heads.get(table.index) ?? [];
      heads.set(table.index, head);
      for (let at = 0; at < repeat && head.length < HEADER_WITHIN; at += 1) head.push({ ...row, row: row.row + at });
    }
  }
  reader.end();
  if (handler.tables.length === 0) throw damaged('it has no sheet');
  return handler.tables.map(({ index, name, hidden }) => ({ index, name, hidden, head: heads.get(index) ?? [] }));
}

function rowsOf(archive: ZipArchive, index: number, signal?: AbortSignal): SheetRows {
  const merged: SheetRows['merged'][number][] = [];
  const hiddenColumns: SheetRows['hiddenColumns'][number][] = [];
  return { portions: portions(), merged, hiddenColumns };

  async function* portions(): AsyncGenerator<Iterable<SheetRow>> {
    const handler = new ContentHandler(await stylesOf(archive));
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
