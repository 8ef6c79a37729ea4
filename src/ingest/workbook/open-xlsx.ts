import { posix } from 'node:path';
import { shorten } from '../findings.ts';
import { MOST_PARTS, MOST_SHEETS, damaged, tooLarge } from './limits.ts';
import { SheetHeads, type Sheet, type SheetRows, type Workbook } from './workbook.ts';
import { isTrue, localName, readXml, takenOf } from './xml-reader.ts';
import type { ZipArchive } from './zip-archive.ts';
import { readSharedStrings, SheetHandler, type CellContext } from './xlsx-sheet-handler.ts';
import { readStyles } from './number-format.ts';

interface XlsxSheet extends Sheet {
  readonly part: string;
}

/** Opens an XLSX file: its texts, its formats and the first rows of each sheet. @throws Refusal */
export async function openXlsx(archive: ZipArchive, signal?: AbortSignal): Promise<Workbook> {
  const found = await readWorkbookPart(archive, signal);
  const context: CellContext = {
    strings: await readSharedStrings(archive, found.sharedStrings, signal),
    styles: await readStyles(archive, found.styles, signal),
    epoch: found.epoch,
  };
  const parts = new Set(found.sheets.map(({ part }) => part.toLowerCase()));
  // Lote would read a part once more for each further sheet that names it.
  if (parts.size < found.sheets.length) throw damaged('two of its sheets are one part');
  const heads = new SheetHeads();
  const sheets: XlsxSheet[] = [];
  for (const [index, { name, hidden, part }] of found.sheets.entries()) {
    for await (const rows of rowsOf(archive, part, context, signal).portions) if (!heads.addAll(index, rows)) break;
    sheets.push({ name, hidden, part, head: heads.of(index) });
  }
  return {
    format: 'xlsx',
    sheets,
    recalculates: found.recalculates,
    rows: (sheet, ending) => rowsOf(archive, sheets.find((one) => one === sheet)?.part ?? '', context, ending),
    close: () => archive.close(),
  };
}

function rowsOf(archive: ZipArchive, part: string, context: CellContext, signal?: AbortSignal): SheetRows {
  const handler = new SheetHandler(context, archive.packedBytes(part));
  const { merged, hiddenColumns } = handler.sheet;
  return { portions: takenOf(archive, part, handler, signal), merged, hiddenColumns };
}

interface Relationship {
  readonly id: string;
  /** Last word of the type: `worksheet`, `styles`. The addresses before it differ between standards. */
  readonly type: string;
  /** Name of the part, or null if it is outside the file. */
  readonly target: string | null;
}

async function readWorkbookPart(archive: ZipArchive, signal?: AbortSignal) {
  const [root] = (await relationships(archive, '', signal)).filter(({ type }) => type === 'officeDocument');
  if (root === undefined || root.target === null) throw damaged('it names no workbook part');
  const related = await relationships(archive, root.target, signal);
  const found = await readWorkbookXml(archive, root.target, signal);
  const byId = new Map(related.map((one) => [one.id, one]));
  const sheets = found.sheets.flatMap(({ id, ...sheet }) => {
    const { type, target: part } = byId.get(id) ?? { type: 'worksheet', target: null };
    // Skips sheets that contain only a chart, a dialog or macros, because they have no rows.
    if (type !== 'worksheet') return [];
    if (part === null) throw damaged(`its sheet ${JSON.stringify(shorten(sheet.name, 60))} names no part of the file`);
    return [{ ...sheet, part }];
  });
  const target = (type: string): string | null => related.find((one) => one.type === type)?.target ?? null;
  return { ...found, sheets, sharedStrings: target('sharedStrings'), styles: target('styles') };
}

async function readWorkbookXml(archive: ZipArchive, part: string, signal?: AbortSignal) {
  const sheets: { name: string; hidden: boolean; id: string }[] = [];
  let epoch: 1900 | 1904 = 1900;
  let recalculates = false;
  await readXml(part, archive.chunks(part, signal), {
    open(name, attributes) {
      const local = localName(name);
      if (local === 'workbookPr' && isTrue(attributes['date1904'])) epoch = 1904;
      if (local === 'calcPr' && isTrue(attributes['fullCalcOnLoad'])) recalculates = true;
      if (local !== 'sheet') return;
      if (sheets.length >= MOST_SHEETS) throw tooLarge('sheets', MOST_SHEETS);
      const id = Object.entries(attributes).find(([key]) => key.endsWith(':id'))?.[1] ?? '';
      const hidden = attributes['state'] === 'hidden' || attributes['state'] === 'veryHidden';
      sheets.push({ name: attributes['name'] ?? '', hidden, id });
    },
  });
  return { sheets, epoch: epoch as 1900 | 1904, recalculates: recalculates as boolean };
}

async function relationships(archive: ZipArchive, of: string, signal?: AbortSignal): Promise<readonly Relationship[]> {
  const folder = posix.dirname(of);
  const part = posix.join(folder, '_rels', `${posix.basename(of)}.rels`);
  if (!archive.has(part)) return [];
  const found: Relationship[] = [];
  await readXml(part, archive.chunks(part, signal), {
    open(name, { Id = '', Type = '', Target = '', TargetMode }) {
      if (localName(name) !== 'Relationship') return;
      if (found.length >= MOST_PARTS) throw tooLarge('relationships of one part', MOST_PARTS);
      const target = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      const type = Type.slice(Type.lastIndexOf('/') + 1);
      found.push({ id: Id, type, target: TargetMode === 'External' ? null : target });
    },
  });
  return found;
}
