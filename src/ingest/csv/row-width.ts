import type { RowMarks } from './original-text.ts';

/** The columns of a table, and which of them are not Lote's. */
interface TableShape {
  readonly width: number;
  readonly author: readonly number[];
  /** It is a corrections file. */
  readonly own: boolean;
}

/** True for a row with fewer cells than the header, or with more that are not empty. */
export function hasWrongWidth(cells: readonly string[], width: number): boolean {
  return cells.length < width || cells.slice(width).some((cell) => cell.trim() !== '');
}

/**
 * What corrections must say of the number of cells that a row has: those that it lacks are there when the row is written whole. What it has too many goes
 * back behind Lote's columns; in a file that has them already, they are shifted, and what they said may be lost.
 */
export function widthMark(cells: readonly string[], { width, author, own }: TableShape): RowMarks['cells'] {
  if (!hasWrongWidth(cells, width) || (cells.length >= width && !own)) return undefined;
  return [author.filter((at) => at < cells.length).length, author.length];
}

/** False once somebody has filled a cell that the row lacked: only then is it known where its values stand. */
export function isStillShort(
  [had, of]: NonNullable<RowMarks['cells']>,
  cells: readonly string[],
  author: readonly number[],
): boolean {
  // With a column more or less nobody knows which cells these were.
  return author.length !== of || author.slice(had).every((at) => (cells[at]?.trim() ?? '') === '');
}
