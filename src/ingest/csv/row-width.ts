import { FIELDS } from '../../domain/invoice.ts';
import type { ReadColumn } from '../ingest-result.ts';

/** How many cells the rows below a header have. */
export interface RowWidth {
  readonly columns: number;
  /** Cells of the header behind its last title, which a line of text writes as delimiters. A sheet has none. */
  readonly trailing: number;
}

/** Returns the number of columns of a header. Cells after its last title belong to no column. */
export function widthOf(header: readonly string[]): number {
  return header.findLastIndex((cell) => cell.trim() !== '') + 1;
}

/** Returns the width of the rows below the header of a text file. */
export function rowWidth(header: readonly string[]): RowWidth {
  const columns = widthOf(header);
  return { columns, trailing: header.length - columns };
}

/** Returns true for a row with fewer cells than the header, or with more that are not empty. */
export function hasWrongWidth(cells: readonly string[], width: RowWidth): boolean {
  return lackedCells(cells, width) > 0 || cells.slice(width.columns).some((cell) => !isEmpty(cell));
}

/** Trailing cells hide a missing one: if as many cells before them are empty, the row may be shifted. */
export function lackedCells(cells: readonly string[], { columns, trailing }: RowWidth): number {
  if (cells.length < columns) return columns - cells.length;
  const lacked = Math.max(0, columns + trailing - cells.length);
  return cells.slice(Math.max(0, columns - lacked), columns).every(isEmpty) ? lacked : 0;
}

/** Returns true for a cell that is absent or has no text. */
export function isEmpty(cell: string | undefined): boolean {
  return (cell?.trim() ?? '') === '';
}

/** Code of the cell in which a file without a last line end stops. */
export const CUT_CELL = 'line-end-missing';

/** Returns the column of a row's last cell if the beginning of a value is itself a valid value, and null otherwise. */
export function cutColumn(cells: readonly string[], read: readonly ReadColumn[]): ReadColumn | null {
  const column = read.find(({ at }) => at === cells.length - 1);
  if (column === undefined || isEmpty(cells.at(-1))) return null;
  const isText = FIELDS[column.column].role === undefined && column.column !== 'tax_code';
  return isText ? null : column;
}
