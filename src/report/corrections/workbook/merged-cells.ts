import type { MergedCells } from '../original-file.ts';
import { UnfitForWorkbook } from './fit-for-workbook.ts';

/** Each note is looked for in each of them. */
const MOST_RANGES = 1000;

/** Cells of the written sheet that are shown as one; rows and columns from 0, both ends included. */
export interface MergedRange {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/**
 * Where merged cells stand when only some rows and columns of a sheet are written: `rows` are those of the original in their order, below
 * the header, and `kept` its columns. Ranges of which at most one cell is left are left out.
 * @throws UnfitForWorkbook
 */
export function mergedInto(
  merged: readonly MergedCells[],
  rows: readonly number[],
  kept: readonly number[],
): readonly MergedRange[] {
  const ranges = merged
    .map(({ firstRow, lastRow, firstColumn, lastColumn }) => ({
      top: countBelow(rows, firstRow) + 1,
      bottom: countBelow(rows, lastRow + 1),
      left: countBelow(kept, firstColumn),
      right: countBelow(kept, lastColumn + 1) - 1,
    }))
    .filter(({ top, bottom, left, right }) => bottom >= top && right >= left && (bottom > top || right > left));
  if (ranges.length > MOST_RANGES)
    throw new UnfitForWorkbook(`it would have more than ${MOST_RANGES.toLocaleString('en')} merged cells`);
  return ranges;
}

/** How many numbers of a rising list are smaller. */
function countBelow(rising: readonly number[], limit: number): number {
  let from = 0;
  let to = rising.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((rising[middle] ?? limit) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}
