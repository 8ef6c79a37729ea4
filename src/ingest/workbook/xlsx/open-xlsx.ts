import { damaged } from '../limits.ts';
import { SheetHeads } from '../sheet-heads.ts';
import { SheetSize } from '../sheet-size.ts';
import type { Sheet, SheetRow, SheetRows, Workbook } from '../workbook.ts';
import { XmlReader } from '../xml-reader.ts';
import type { ZipArchive } from '../zip-archive.ts';
import { readWorkbookPart } from './package-parts.ts';
import { readSharedStrings } from './shared-strings.ts';
import { SheetHandler } from './sheet-handler.ts';
import type { CellContext } from './sheet-handler.ts';
import { readStyles } from './styles.ts';

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
  requireOwnParts(found.sheets);
  const heads = new SheetHeads();
  const sheets: XlsxSheet[] = [];
  for (const [index, { name, hidden, part }] of found.sheets.entries()) {
    await readHead(heads, index, rowsOf(archive, part, context, signal));
    sheets.push({ name, hidden, part, head: heads.of(index) });
  }
  return {
    format: 'xlsx',
    sheets,
    recalculates: found.recalculates,
    hasMacros: found.hasMacros,
    linksElsewhere: found.linksElsewhere,
    rows: (sheet, ending) => rowsOf(archive, partOf(sheets, sheet), context, ending),
    close: () => archive.close(),
  };
}

function partOf(sheets: readonly XlsxSheet[], sheet: Sheet): string {
  return sheets.find((one) => one === sheet)?.part ?? '';
}

/** Each further name of a part would have it read once more. */
function requireOwnParts(sheets: readonly { readonly part: string }[]): void {
  const parts = new Set(sheets.map(({ part }) => part.toLowerCase()));
  if (parts.size < sheets.length) throw damaged('two of its sheets are one part');
}

async function readHead(heads: SheetHeads, index: number, { portions }: SheetRows): Promise<void> {
  for await (const rows of portions) for (const row of rows) if (!heads.add(index, row)) return;
}

function rowsOf(archive: ZipArchive, part: string, context: CellContext, signal?: AbortSignal): SheetRows {
  const handler = new SheetHandler(context, new SheetSize(archive.packedBytes(part)));
  return { portions: portions(), merged: handler.merged, hiddenColumns: handler.hiddenColumns };

  async function* portions(): AsyncGenerator<readonly SheetRow[]> {
    const reader = new XmlReader(part, handler);
    for await (const chunk of archive.chunks(part, signal)) {
      reader.write(chunk);
      yield handler.take();
    }
    reader.end();
    yield handler.take();
  }
}
