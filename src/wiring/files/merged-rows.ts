import { z } from 'zod';
import { dialectOf } from '../../ingest/csv/read-records.ts';
import type { Proof } from '../../ingest/ingest-result.ts';
import { readSheetRows } from '../../ingest/workbook/read-sheet-rows.ts';
import type { MergedRange } from '../../ingest/workbook/workbook.ts';

const NoneMerged = z.object({ workbook: z.object({ mergedCells: z.literal(0) }) });

/**
 * Rows of a kept workbook below its header of which a cell that is read is merged with others; a file with many of them was refused. Where there are some,
 * the sheet is read to its end, because only there all of them are known. Of any other file: none.
 * @throws LoteError `file-unreadable`; Refusal
 */
export async function mergedRows(path: string, proof: Proof): Promise<ReadonlySet<number>> {
  const dialect = dialectOf(proof);
  const { sheet, read = [], headerRow } = dialect;
  const rows = new Set<number>();
  if (sheet === undefined || NoneMerged.safeParse(proof).success) return rows;
  let merged: readonly MergedRange[] = [];
  for await (const found of readSheetRows(path, dialect)) merged = found.merged;
  for (const { firstRow, lastRow, firstColumn, lastColumn } of merged) {
    if (!read.some(({ at }) => at >= firstColumn && at <= lastColumn)) continue;
    for (let row = Math.max(firstRow, (headerRow ?? 0) + 1); row <= lastRow; row += 1) rows.add(row);
  }
  return rows;
}
