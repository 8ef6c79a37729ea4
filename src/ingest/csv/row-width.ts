import type { Column } from '../../domain/row.ts';
import type { ReadColumn } from '../ingest-result.ts';

/** How many cells the rows below a header have. */
export interface RowWidth {
  readonly columns: number;
  /**
   * Number of trailing cells of a complete row in a text file, because it ends with as many delimiters. A sheet has
   * none.
   */
  readonly trailing: number;
  /**
   * True if the header ends with more delimiters than complete rows: a row that ends like the header may lack a cell.
   */
  readonly isExact: boolean;
}

/** Returns the number of columns of a header. Cells after its last title belong to no column. */
export function widthOf(header: readonly string[]): number {
  return header.findLastIndex((cell) => cell.trim() !== '') + 1;
}

/** Returns the number of cells after the last title of a header; a text line ends with as many delimiters. */
export function trailingCells(header: readonly string[]): number {
  return header.length - widthOf(header);
}

/** Returns the width of a header, in a file whose complete rows have `trailing` trailing cells. */
export function rowWidth(header: readonly string[], trailing: number): RowWidth {
  return { columns: widthOf(header), trailing, isExact: trailing < trailingCells(header) };
}

/**
 * Returns the number of trailing cells of complete rows. Some programs end only the header with delimiters, which a row
 * with a filled last column proves.
 */
export function trailingCellsOfRows(header: readonly string[], rows: readonly (readonly string[])[]): number {
  const columns = widthOf(header);
  const whole = rows.filter(
    (cells) => !isEmpty(cells[columns - 1]) && cells[0] !== header[0] && cells.slice(columns).every(isEmpty),
  );
  const most = trailingCells(header);
  return whole.length === 0 ? most : Math.min(most, Math.max(...whole.map((cells) => cells.length - columns)));
}

/** Returns true for a row with fewer cells than the header, or with more that are not empty. */
export function hasWrongWidth(cells: readonly string[], width: RowWidth): boolean {
  const { columns, trailing, isExact } = width;
  if (isExact && cells.length > columns + trailing && isEmpty(cells[columns - 1])) return true;
  return lackedCells(cells, width) > 0 || cells.slice(columns).some((cell) => !isEmpty(cell));
}

/**
 * Returns how many cells a row lacks. Trailing cells hide a missing cell: if as many cells before them are empty, the
 * row may be shifted.
 */
export function lackedCells(cells: readonly string[], { columns, trailing }: RowWidth): number {
  if (cells.length < columns) return columns - cells.length;
  const lacked = Math.max(0, columns + trailing - cells.length);
  return cells.slice(Math.max(0, columns - lacked), columns).every(isEmpty) ? lacked : 0;
}

/** Returns true for a cell that is absent or has no text. */
export function isEmpty(cell: string | undefined): boolean {
  return (cell?.trim() ?? '') === '';
}

/** Columns in which the beginning of a value is itself another valid value. */
const WHOLE: ReadonlySet<Column> = new Set([
  ...(['invoice_ref', 'merchant_nif', 'customer_tax_id'] as const),
  ...(['quantity', 'unit_price', 'tax_code'] as const),
]);

/** Code of the cell in which a file without a last line end stops. */
export const CUT_CELL = 'line-end-missing';

/** Returns the column of a row's last cell if a part of its value could be another valid value, and null otherwise. */
export function cutColumn(cells: readonly string[], read: readonly ReadColumn[]): ReadColumn | null {
  const column = read.find(({ at }) => at === cells.length - 1);
  if (column === undefined || !WHOLE.has(column.column) || isEmpty(cells.at(-1))) return null;
  return column;
}
