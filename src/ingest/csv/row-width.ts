import type { RowMarks } from './original-text.ts';

/** The columns of a header. */
export interface RowWidth {
  /** How many it has up to its last title. */
  readonly columns: number;
  /** How many trailing cells a whole row of a text has, because it ends with as many delimiters. A sheet has none. */
  readonly trailing: number;
}

/** The columns of a table, and which of them are not Lote's. */
interface TableShape extends RowWidth {
  readonly author: readonly number[];
  /** It is a corrections file. */
  readonly own: boolean;
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
  return { columns: widthOf(header), trailing };
}

/** True for a row with fewer cells than the header, or with more that are not empty. */
export function hasWrongWidth(cells: readonly string[], width: RowWidth): boolean {
  return lackedCells(cells, width) > 0 || cells.slice(width.columns).some((cell) => !isEmpty(cell));
}

/**
 * How many cells a row lacks. One that ends with delimiters has empty trailing cells; where it lacks as many others, these stand in the last columns, so that
 * their number fits, and what stands before them may be in wrong ones.
 */
export function lackedCells(cells: readonly string[], { columns, trailing }: RowWidth): number {
  if (cells.length < columns) return columns - cells.length;
  const lacked = Math.max(0, columns + trailing - cells.length);
  return cells.slice(Math.max(0, columns - lacked), columns).every(isEmpty) ? lacked : 0;
}

/** True for a cell without text, and for none. */
export function isEmpty(cell: string | undefined): boolean {
  return (cell?.trim() ?? '') === '';
}

/**
 * What corrections must say of the number of cells that a row has: those that it lacks are there when the row is written whole. What it has too many goes
 * back behind Lote's columns; in a file that has them already, they are shifted, and what they said may be lost.
 */
export function widthMark(cells: readonly string[], shape: TableShape): RowMarks['cells'] {
  const { columns, author, own } = shape;
  const lacked = lackedCells(cells, shape);
  if (!hasWrongWidth(cells, shape) || (lacked === 0 && !own)) return undefined;
  const had = lacked === 0 ? cells.length : columns - lacked;
  return [author.filter((at) => at < had).length, author.length];
}

/** False once somebody has filled a cell that the row lacked: only then is it known where its values stand. */
export function isStillShort(
  [had, of]: NonNullable<RowMarks['cells']>,
  cells: readonly string[],
  author: readonly number[],
): boolean {
  // With a column more or less nobody knows which cells these were.
  return author.length !== of || author.slice(had).every((at) => isEmpty(cells[at]));
}
