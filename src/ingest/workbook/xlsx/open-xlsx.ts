import { HEADER_WITHIN } from '../limits.ts';
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
  const found = await readWorkbookPart(archive);
  const context: CellContext = {
    strings: await readSharedStrings(archive, found.sharedStrings, signal),
    styles: await readStyles(archive, found.styles),
    epoch: found.epoch,
  };
  const sheets: XlsxSheet[] = [];
  for (const { name, hidden, part } of found.sheets)
    sheets.push({ name, hidden, part, head: await headOf(rowsOf(archive, part, context)) });
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

async function headOf({ portions }: SheetRows): Promise<readonly SheetRow[]> {
  const head: SheetRow[] = [];
  for await (const rows of portions) {
    head.push(...rows);
    if (head.length >= HEADER_WITHIN) break;
  }
  return head.slice(0, HEADER_WITHIN);
}

function rowsOf(archive: ZipArchive, part: string, context: CellContext, signal?: AbortSignal): SheetRows {
  const handler = new SheetHandler(context);
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
