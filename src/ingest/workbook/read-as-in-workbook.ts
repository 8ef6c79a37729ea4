import { stat } from 'node:fs/promises';
import { READ_AS, parseReadAs, type ReadAs } from '../../domain/read-as.ts';
import { Refusal } from '../refusal.ts';
import { openWorkbook } from './open-workbook.ts';
import type { Sheet, Workbook } from './workbook.ts';

/** Several times what corrections in a workbook have: a larger file is not opened twice for it. */
const MOST_BYTES = 8 * 1024 ** 2;

/** What the first rows of a corrections workbook say; {} for any other workbook, and for one that cannot be read. */
export async function readAsInWorkbook(path: string): Promise<ReadAs> {
  if ((await stat(path)).size > MOST_BYTES) return {};
  const workbook = await openWorkbook(path).catch(nullWhenRefused);
  if (workbook === null) return {};
  try {
    const said = workbook.sheets.filter(({ hidden }) => !hidden).map((sheet) => saidIn(sheet));
    return parseReadAs(said.find((text) => text !== '') ?? '');
  } finally {
    workbook.close();
  }
}

/** Who reads the file says why it cannot be read. */
function nullWhenRefused(error: unknown): Workbook | null {
  if (error instanceof Refusal) return null;
  throw error;
}

/** The first text below the column's title; '' without one. */
function saidIn({ head }: Sheet): string {
  const header = head.find(({ cells }) => cells.some((cell) => cell.trim() === READ_AS));
  if (header === undefined) return '';
  const at = header.cells.findIndex((cell) => cell.trim() === READ_AS);
  const below = head.filter(({ row }) => row > header.row).map(({ cells }) => cells[at]?.trim() ?? '');
  return below.find((text) => text !== '') ?? '';
}
