import type { RawRow } from '../domain/row.ts';

/** Of a row besides the characters of its cells: the objects that they stand in. */
const ROW_BYTES = 500;

/** JavaScript keeps all characters of a text in two bytes when one of them needs both. */
const CHARACTER_BYTES = 2;

/** What rows take in memory at most, in bytes: an estimate that texts which cells share do not lower. */
export function sizeOfRows(rows: readonly RawRow[]): number {
  let characters = 0;
  for (const { cells } of rows) for (const cell of cells) characters += cell?.length ?? 0;
  return rows.length * ROW_BYTES + characters * CHARACTER_BYTES;
}
