import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import type { TableHeader } from '../csv/table-header.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { shorten, Refusal } from '../findings.ts';
import { mapHeader } from './map-header.ts';

/** The header must be among the first records that have content; the records above it are preamble. */
export const HEADER_WITHIN = 50;
const FEWEST_COLUMNS = 2;
const MOST_COLUMNS_SHOWN = 30;
const MOST_TWINS_SHOWN = 5;
const LONGEST_WORD_SHOWN = 40;

/** Returns the first record with every required column, else the one that names most, then has most words. */
export function findHeader(records: readonly CsvRecord[], options: IngestOptions): TableHeader | null {
  let best: TableHeader | null = null;
  for (const header of records) {
    const one = { header, map: mapHeader(header.cells, options) };
    if (best === null || compareHeaders(one, best) < 0) best = one;
    if (best.map.missing.length === 0) break;
  }
  return best;
}

/** Returns a negative number if the first of two records is more likely a header. */
export function compareHeaders(one: TableHeader, other: TableHeader): number {
  const named = Math.max(one.map.found, other.map.found) >= FEWEST_COLUMNS ? other.map.found - one.map.found : 0;
  return named || wordsIn(other.header) - wordsIn(one.header);
}

/** Returns true for a record that names fewer than two columns and has a number or fewer than two words. */
export function isNoHeader({ header, map }: TableHeader): boolean {
  if (map.found >= FEWEST_COLUMNS) return false;
  return wordsIn(header) < FEWEST_COLUMNS || header.cells.some((cell) => /^\s*\d[\d.,]*\s*$/u.test(cell));
}

/** Counts the cells that are words, not values. */
function wordsIn({ cells }: CsvRecord): number {
  return cells.filter((cell) => /^\W*\p{L}/u.test(cell)).length;
}

/** Checks a header; `where` is its place, such as `Header in row 3`. @throws Refusal */
export function requireWholeHeader(found: TableHeader, where: string, { reference }: IngestOptions): void {
  requireOwnColumns(found, where);
  requireConfirmed(found, where);
  requireEachOnce(found, where);
  requireAll(found, where, reference);
}

/** Returns the texts of a header, for a message. */
export function shownCells(cells: readonly string[]): string {
  return cells
    .slice(0, MOST_COLUMNS_SHOWN)
    .map((cell) => quoted(cell))
    .join(', ');
}

function requireEachOnce({ header, map }: TableHeader, where: string): void {
  const [twice] = map.duplicates;
  if (twice === undefined) return;
  const words = twice.positions
    .slice(0, MOST_TWINS_SHOWN)
    .map((position) => `${quoted(header.cells[position - 1] ?? '')} (column ${position})`)
    .join(' and ');
  const message = `${where}: expected one column for ${twice.column}, found ${words}. Remove or rename one, or name it in a profile`;
  throw new Refusal('column-duplicate', message, { row: header.row, column: twice.column });
}

/** Lote leaves out a column only if a person has confirmed that, and a file with another layout may hold other data. */
function requireConfirmed({ header, map: { unknown, gone } }: TableHeader, where: string): void {
  if (unknown.length === 0 && gone.length === 0) return;
  throw new Refusal('layout-unconfirmed', `${where}: ${unconfirmed(unknown, gone)}`, { row: header.row });
}

/** Describes what is not confirmed, with the command that shows and confirms it; `nameCommand` fills in the names. */
export function unconfirmed(unknown: readonly string[], gone: readonly string[]): string {
  const more = unknown.length > MOST_COLUMNS_SHOWN ? ` and ${unknown.length - MOST_COLUMNS_SHOWN} more` : '';
  const found =
    unknown.length === 0 ? '' : `found ${shownCells(unknown)}${more}, whose meaning no person has confirmed`;
  const lost = gone.length === 0 ? '' : `found no ${shownCells(gone)}, which the mapping profile names`;
  const all = [found, lost].filter((part) => part !== '').join(', and ');
  return `expected Lote's own column names, or a layout that a mapping profile confirms, ${all}. Look at the proposal and save it: ${CONFIRM_COMMAND}`;
}

/** The command in messages before the file and profile names are known. */
export const CONFIRM_COMMAND = '`lote check FILE --save-profile NAME`';

function requireAll({ header, map }: TableHeader, where: string, reference: IngestOptions['reference']): void {
  if (map.missing.length === 0) return;
  const parts = reference?.columns.filter((_, at) => map.referenceParts[at] === -1) ?? [];
  const advice =
    parts.length === 0
      ? 'Rename the columns, or name them in a profile'
      : `The profile builds the reference from ${parts.map((name) => `"${name}"`).join(' and ')}, which the header does not have: correct the profile`;
  const wanted = [...new Set([...REQUIRED_COLUMNS, ...map.missing])];
  const message = `${where}: expected a column for each of ${wanted.join(', ')}, found none for ${map.missing.join(', ')} among ${shownCells(header.cells)}. ${advice}`;
  throw new Refusal('column-missing', message, { row: header.row, column: map.missing[0] ?? '' });
}

/** Without both columns, the quotes that Lote put before formula signs would stay in the texts. */
function requireOwnColumns({ header, map }: TableHeader, where: string): void {
  if (!map.ownInPart) return;
  const message = `${where}: a corrections file has both columns lote_state and lote_reason, found one of them. Put the other one back (its cells may be empty)`;
  throw new Refusal('corrections-damaged', message, { row: header.row });
}

function quoted(cell: string): string {
  return `"${shorten(cell.trim(), LONGEST_WORD_SHOWN)}"`;
}
