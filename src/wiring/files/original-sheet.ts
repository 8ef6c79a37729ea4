import { ORIGINAL, ORIGINAL_FORMAT, readAsText } from '../../domain/read-as.ts';
import { COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { originalCells } from '../../ingest/csv/original-cells.ts';
import { originalInSheet, sheetMarks } from '../../ingest/csv/row-marks.ts';
import type { ShownRow } from '../../ingest/csv/row-marks.ts';
import { originalAsText, readOriginal } from '../../ingest/csv/original-text.ts';
import { dialectOf } from '../../ingest/csv/read-records.ts';
import { labelOf } from '../../ingest/csv/table-header.ts';
import type { Dialect, Proof, SheetDialect } from '../../ingest/ingest-result.ts';
import type { NumberFormat } from '../../ingest/workbook/number-format.ts';
import { readSheetRows } from '../../ingest/workbook/read-sheet-rows.ts';
import type { SheetCell } from '../../ingest/workbook/workbook.ts';
import type { MergedCells, OriginalCell, OriginalCsv, OriginalSheet } from '../../report/corrections/original-file.ts';
import { mergedRows } from './merged-rows.ts';
import { numberMarksOf, readAsOf } from './read-as-of.ts';

const MOST_ZEROS = 30;

/** The sheet of a kept workbook, so that its rows can go back as cells; `asCsv` is the same file as texts. */
export function originalSheet(path: string, proof: Proof, asCsv: OriginalCsv): OriginalSheet {
  const dialect = dialectOf(proof);
  const { read, own, header } = dialect;
  const marks = numberMarksOf(proof);
  // A workbook that was made of a corrections file keeps the cells of that one.
  const originalAt = own ? header.findIndex((cell) => cell.trim() === ORIGINAL) : -1;
  const hasOriginals = read !== undefined && originalAt < 0;
  let merged: readonly MergedCells[] = [];
  return {
    kind: 'sheet',
    name: dialect.sheet?.name ?? '',
    header,
    hasOriginals,
    readAs: readAsText(readAsOf(proof, true)),
    columns: columnsOf(dialect),
    rows: rows(),
    merged: () => merged,
    asCsv,
  };

  async function* rows() {
    const rowsMerged = await mergedRows(path, proof);
    for await (const found of readSheetRows(path, dialect)) {
      const { row, records, isBelievable } = found;
      merged = found.merged;
      const cells = Array.from(row.cells, (cell, at) =>
        cell === undefined ? undefined : originalCell(cell, !records.isRead(at) || isBelievable(at)),
      );
      const shown = (at: number) => row.cells[at]?.format?.decimals ?? null;
      const { inCsv, unread = [], wasNeverText = false } = records.record(row);
      const merges = rowsMerged.has(row.row);
      const now = sheetMarks({ hidden: row.hidden, merged: merges, unread, inCsv }, read ?? []);
      const known = hasOriginals ? originalCells(inCsv, read, { ...marks, shown }) : {};
      const original = hasOriginals
        ? originalAsText(originalInSheet({ cells: known, marks: { sheet: true } }, { now, wasNeverText: true }))
        : '';
      if (originalAt >= 0) cells[originalAt] = keptOriginal(cells[originalAt], { now, wasNeverText });
      yield { row: row.row, hidden: row.hidden, cells, original };
    }
  }
}

/** As it came, with what the sheet shows of its row now. The format says that the sheet shows all of it, which one that was saved as text in between does not. */
function keptOriginal(cell: OriginalCell | undefined, shown: ShownRow): OriginalCell | undefined {
  const said = readOriginal(cell?.text ?? '');
  if (said === null) return cell;
  const { saidByText, ...original } = originalInSheet(said, shown);
  const text = originalAsText(original);
  if (text === '') return undefined;
  return { kind: 'text', text, format: saidByText ? null : ORIGINAL_FORMAT };
}

function columnsOf({ header, headerRow, sheet }: Dialect): OriginalSheet['columns'] {
  const columns = new Map<string, { position: number; column: Column }>();
  if (sheet === undefined) return columns;
  const places = { header: { row: headerRow ?? 0, cells: header }, map: sheet };
  for (const [at, column] of COLUMNS.entries()) {
    const position = positionOf(sheet, at, column);
    if (position >= 0) columns.set(labelOf(places, column), { position, column });
  }
  return columns;
}

/** A reference that is built stands in its first part. */
function positionOf({ indexes, referenceParts }: SheetDialect, at: number, column: Column): number {
  const index = indexes[at] ?? -1;
  return index < 0 && column === 'invoice_ref' ? (referenceParts[0] ?? -1) : index;
}

function originalCell({ kind, text, format }: SheetCell, isBelievable: boolean): OriginalCell {
  if (kind === 'missing' || !isBelievable) return { kind: 'none', text, format: null };
  // A date that its format does not show as one would come back as a number.
  const isShown = format !== null && (kind !== 'date' || format.kind === 'date');
  return { kind, text, format: isShown ? (format.code ?? codeOf(format)) : null };
}

/** ODS describes a format in other words: a code that says as much of the number. Null: no format says anything. */
function codeOf({ kind, decimals, leastDigits, addsText, currency }: NumberFormat): string | null {
  if (kind === 'date') return null;
  const isPlain = kind === 'general' || (decimals === null && leastDigits === 1 && kind !== 'percent');
  const digits = zeros(leastDigits) + (decimals === null || decimals === 0 ? '' : `.${zeros(decimals)}`);
  const number = isPlain ? 'General' : digits;
  if (kind === 'percent') return `${digits}%`;
  if (currency !== null) return `${isPlain ? '0.##########' : digits} "${currency.replaceAll('"', '')}"`;
  // What it adds is not known any more, but that it does must be seen again.
  if (addsText) return `${number} "…"`;
  return isPlain ? null : number;
}

/** As many as a format of Excel may have: the file says any number. */
function zeros(count: number): string {
  return '0'.repeat(Math.min(Math.max(Math.trunc(count) || 0, 0), MOST_ZEROS));
}
