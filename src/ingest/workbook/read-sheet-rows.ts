import type { Dialect } from '../ingest-result.ts';
import { openWorkbook } from './open-workbook.ts';
import { SheetRecords } from './sheet-records.ts';
import type { SheetRow, SheetRows } from './workbook.ts';

/** A row as the sheet has it, and what makes a record of it. */
interface ReadSheetRow {
  readonly row: SheetRow;
  readonly records: SheetRecords;
  /** Of the whole sheet; complete when its rows are at their end. */
  readonly merged: SheetRows['merged'];
  /** False for a formula that its program asks to calculate again: its saved value is not to be believed. */
  readonly isBelievable: (position: number) => boolean;
}

/**
 * Reads the rows below the header again, of the sheet that was read. The bytes must be the same (compare the hash).
 * @throws LoteError `file-unreadable`; Refusal
 */
export async function* readSheetRows(
  path: string,
  { sheet, header, headerRow }: Pick<Dialect, 'sheet' | 'header' | 'headerRow'>,
  signal?: AbortSignal,
): AsyncGenerator<ReadSheetRow> {
  const workbook = await openWorkbook(path, signal);
  try {
    const found = workbook.sheets.find(({ name }) => name === sheet?.name);
    if (found === undefined || sheet === undefined) return;
    const chosen = { header: { row: headerRow ?? 0, cells: header }, map: sheet };
    const { recalculates } = workbook;
    const records = new SheetRecords({ chosen, recalculates, findings: null, marks: sheet.marks });
    const { portions, merged } = workbook.rows(found, signal);
    for await (const portion of portions)
      for (const row of portion) {
        const isBelievable = (at: number) => !recalculates || row.cells[at]?.formula !== true;
        if (row.row > chosen.header.row) yield { row, records, merged, isBelievable };
      }
  } finally {
    workbook.close();
  }
}
