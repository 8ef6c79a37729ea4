import type { Finding } from '../../domain/invoice.ts';
import { COLUMNS } from '../../domain/row.ts';
import { labelOf } from '../csv/table-header.ts';
import type { Damage } from '../encoding/damage.ts';
import type { FindingList } from '../finding-list.ts';
import { shorten } from '../invoice/shorten.ts';
import type { ChosenSheet } from './choose-sheet.ts';
import { namesOf } from './choose-sheet.ts';
import type { SheetRecords } from './sheet-records.ts';
import type { MergedRange, SheetRows, Workbook } from './workbook.ts';

interface ReportWorkbook {
  readonly workbook: Workbook;
  readonly chosen: ChosenSheet;
  /** Read to its end. */
  readonly sheet: SheetRows;
  readonly records: SheetRecords;
  readonly damage: Damage;
  readonly findings: FindingList;
}

/** Adds what must be said of a workbook as a whole, and gives it for the proof. Rows with merged cells are damaged. */
export function reportWorkbook(given: ReportWorkbook): Readonly<Record<string, unknown>> {
  const { workbook, chosen, records, findings } = given;
  const say = (severity: Finding['severity'], code: string, message: string): void =>
    findings.add({ row: null, column: null, code, message, severity });
  const merged = damageMerged(given);
  const hiddenColumns = hiddenColumnsOf(given);
  const others = workbook.sheets.filter((sheet) => sheet !== chosen.sheet);
  if (others.length > 0)
    say(
      'info',
      'sheets-not-read',
      `Only the sheet "${shorten(chosen.sheet.name, 60)}" is read, not ${namesOf(others)}`,
    );
  if (chosen.sheet.hidden) say('warning', 'sheet-hidden', 'The sheet that was named is hidden');
  if (hiddenColumns.length > 0)
    say('warning', 'columns-hidden', `These columns are hidden and are read: ${hiddenColumns.join(', ')}`);
  if (records.formulas.count > 0)
    say(
      'info',
      'formulas',
      `${records.formulas.count} cells hold formulas, the first one in ${records.formulas.first}; the values that were saved with them are taken`,
    );
  if (records.beyond.count > 0)
    say(
      'warning',
      'cells-beyond-header',
      `${records.beyond.count} cells stand to the right of the header and are not read, the first one in ${records.beyond.first}`,
    );
  if (workbook.hasMacros) say('info', 'macros-ignored', 'The workbook holds macros; they are not run');
  if (workbook.linksElsewhere)
    say(
      'info',
      'links-ignored',
      'The workbook refers to other files; they are not opened, and the values that were saved are taken',
    );
  return {
    formulas: records.formulas.count,
    hiddenRows: records.hiddenRows.count,
    hiddenColumns,
    mergedCells: merged,
    macros: workbook.hasMacros,
    links: workbook.linksElsewhere,
  };
}

/** One value stands for several rows or columns, and no rule says for which of them it is meant. A row is told once for each column. */
function damageMerged({ chosen, sheet, damage }: ReportWorkbook): number {
  let count = 0;
  const nextRow = new Map<string, number>();
  for (const range of sheet.merged.toSorted((a, b) => a.firstRow - b.firstRow)) {
    if (range.lastRow <= chosen.header.row) continue;
    const at = COLUMNS.findIndex((_, column) => isInside(chosen.map.indexes[column] ?? -1, range));
    const isPart = chosen.map.referenceParts.some((index) => isInside(index, range));
    if (at < 0 && !isPart) continue;
    count += 1;
    const label = labelOf(chosen, COLUMNS[at] ?? 'invoice_ref');
    const first = Math.max(range.firstRow, nextRow.get(label) ?? chosen.header.row + 1);
    nextRow.set(label, Math.max(first, range.lastRow + 1));
    for (let row = first; row <= range.lastRow; row += 1) {
      const message = `Row ${row}, ${label}: the cell is merged with others (rows ${range.firstRow} to ${range.lastRow}), and a value for several rows or columns proves nothing about each. Split the cells and fill in each of them`;
      damage.add(row, [{ row, column: label, code: 'cell-merged', message, severity: 'error' }]);
    }
  }
  return count;
}

function isInside(position: number, range: MergedRange): boolean {
  return position >= range.firstColumn && position <= range.lastColumn;
}

function hiddenColumnsOf({ chosen, sheet, records }: ReportWorkbook): readonly string[] {
  return chosen.header.cells.flatMap((cell, at) =>
    records.isRead(at) && sheet.hiddenColumns.some(({ first, last }) => at >= first && at <= last)
      ? [`"${shorten(cell.trim(), 40)}"`]
      : [],
  );
}
