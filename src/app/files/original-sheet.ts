import { readAsText } from '../../domain/read-as.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { labelOf } from '../../ingest/csv/table-header.ts';
import type { Dialect, Proof, SheetDialect } from '../../ingest/ingest-result.ts';
import { readSheetRows } from '../../ingest/workbook/sheet-records.ts';
import type { SheetCell } from '../../ingest/workbook/workbook.ts';
import type { MergedCells, OriginalCell, OriginalSheet } from '../../report/corrections/original-file.ts';
import { dialectOf, readAsOf } from './file-proof.ts';

/** The sheet of a kept workbook, so that its rows can go back as cells. */
export function originalSheet(path: string, proof: Proof): OriginalSheet {
  const dialect = dialectOf(proof);
  const isRead = new Set(dialect.read?.map(({ at }) => at));
  let merged: readonly MergedCells[] = [];
  return {
    kind: 'sheet',
    name: dialect.sheet?.name ?? '',
    header: dialect.header,
    readAs: readAsText({ ...readAsOf(proof), form: 'workbook' }),
    columns: columnsOf(dialect),
    rows: rows(),
    merged: () => merged,
  };

  async function* rows() {
    for await (const found of readSheetRows(path, dialect)) {
      const { row, recalculates } = found;
      merged = found.merged;
      const cells = Array.from(row.cells, (cell, at) =>
        cell === undefined ? undefined : originalCell(cell, !(recalculates && cell.formula && isRead.has(at))),
      );
      yield { row: row.row, hidden: row.hidden, cells };
    }
  }
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
  return { kind, text, format: isShown && format.code !== 0 ? format.code : null };
}
