import type { Column } from '../../domain/row.ts';
import type { ReadColumn } from '../ingest-result.ts';

/** The columns of a header. */
export interface RowWidth {
  readonly columns: number;
  /** How many trailing cells a whole row of a text has, because it ends with as many delimiters. A sheet has none. */
  readonly trailing: number;
  /** The header ends with more delimiters than whole rows do: a row that does, too, may lack a cell. */
  readonly isExact: boolean;
}

/** How many columns a header has: what stands behind its last title is in none. */
export function widthOf(header: readonly string[]): number {
  return header.findLastIndex((cell) => cell.trim() !== '') + 1;
}

/** How many trailing cells a header has, behind its last title: in a text it ends with as many delimiters. */
export function trailingCells(header: readonly string[]): number {
  return header.length - widthOf(header);
}

/** The columns of a header, in a file whose whole rows have so many trailing cells. */
export function rowWidth(header: readonly string[], trailing: number): RowWidth {
  return { columns: widthOf(header), trailing, isExact: trailing < trailingCells(header) };
}

/** How many trailing cells whole rows have. Some programs end the header alone with delimiters: a row whose last column is filled proves it. */
export function trailingCellsOfRows(header: readonly string[], rows: readonly (readonly string[])[]): number {
  const columns = widthOf(header);
  const whole = rows.filter(
    (cells) => !isEmpty(cells[columns - 1]) && cells[0] !== header[0] && cells.slice(columns).every(isEmpty),
  );
  const most = trailingCells(header);
  return whole.length === 0 ? most : Math.min(most, Math.max(...whole.map((cells) => cells.length - columns)));
}

/** True for a row with fewer cells than the header, or with more that are not empty. */
export function hasWrongWidth(cells: readonly string[], width: RowWidth): boolean {
  const { columns, trailing, isExact } = width;
  if (isExact && cells.length > columns + trailing && isEmpty(cells[columns - 1])) return true;
  return lackedCells(cells, width) > 0 || cells.slice(columns).some((cell) => !isEmpty(cell));
}

/** How many cells a row lacks. Trailing cells hide a missing one: with as many empty cells before them as are lacked, the row may be shifted. */
export function lackedCells(cells: readonly string[], { columns, trailing }: RowWidth): number {
  if (cells.length < columns) return columns - cells.length;
  const lacked = Math.max(0, columns + trailing - cells.length);
  return cells.slice(Math.max(0, columns - lacked), columns).every(isEmpty) ? lacked : 0;
}

/** True for a cell without text, and for none. */
export function isEmpty(cell: string | undefined): boolean {
  return (cell?.trim() ?? '') === '';
}

/** Columns in which the beginning of a value is another value. */
const WHOLE: ReadonlySet<Column> = new Set([
  ...(['invoice_ref', 'merchant_nif', 'customer_tax_id'] as const),
  ...(['quantity', 'unit_price', 'tax_code'] as const),
]);

/** Code of the cell in which a file without a last line end stops. */
export const CUT_CELL = 'line-end-missing';

/** The column of a row's last cell, if a part of its value would be read as another value; else null. */
export function cutColumn(cells: readonly string[], read: readonly ReadColumn[]): ReadColumn | null {
  const column = read.find(({ at }) => at === cells.length - 1);
  if (column === undefined || !WHOLE.has(column.column) || isEmpty(cells.at(-1))) return null;
  return column;
}
