import { REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import type { TableHeader } from '../csv/table-header.ts';
import type { IngestOptions } from '../ingest-options.ts';
import { shorten } from '../invoice/shorten.ts';
import { Refusal } from '../refusal.ts';
import { mapHeader } from './map-header.ts';

/** The header must be among the first records with content; what stands above it is preamble. */
export const HEADER_WITHIN = 50;
/** A header that names fewer is none. */
const FEWEST_COLUMNS = 2;
const MOST_COLUMNS_SHOWN = 30;
const MOST_TWINS_SHOWN = 5;
const LONGEST_WORD_SHOWN = 40;

/** Where a header stands, as messages say it. */
export interface HeaderPlace {
  /** `Header in row 3`, with its sheet. */
  readonly where: string;
  /** How the table was cut into columns, after a comma; '' where that is no question. */
  readonly readWith: string;
  /** What must be corrected when it lacks a column. */
  readonly thing: 'file' | 'sheet';
}

/**
 * The first record that names every required column, else the one that names most, and where none names two, the one with most words: above
 * an unknown header often stands a title. Null without records.
 */
export function findHeader(records: readonly CsvRecord[], options: IngestOptions): TableHeader | null {
  let best: TableHeader | null = null;
  for (const header of records) {
    const map = mapHeader(header.cells, options);
    if (best === null || isLikelier({ header, map }, best)) best = { header, map };
    if (map.missing.length === 0) break;
  }
  return best;
}

function isLikelier(one: TableHeader, best: TableHeader): boolean {
  if (one.map.found >= FEWEST_COLUMNS || best.map.found >= FEWEST_COLUMNS) return one.map.found > best.map.found;
  return wordsIn(one.header) > wordsIn(best.header);
}

/** A cell that begins with a digit is a value. */
function wordsIn({ cells }: CsvRecord): number {
  return cells.filter((cell) => /^\s*\p{L}/u.test(cell)).length;
}

/** @throws Refusal `column-duplicate`, `column-missing`, `column-overruled`, `corrections-damaged` */
export function requireWholeHeader(found: TableHeader, place: HeaderPlace, { reference }: IngestOptions): void {
  requireEachOnce(found, place);
  requireAll(found, place, reference);
  requireNoneOverruled(found, place);
  requireOwnColumns(found, place);
}

/** The words of a header, for a message. */
export function shownCells(cells: readonly string[]): string {
  return cells
    .slice(0, MOST_COLUMNS_SHOWN)
    .map((cell) => quoted(cell))
    .join(', ');
}

function requireEachOnce({ header, map }: TableHeader, { where }: HeaderPlace): void {
  const [twice] = map.duplicates;
  if (twice === undefined) return;
  const words = twice.positions
    .slice(0, MOST_TWINS_SHOWN)
    .map((position) => `${quoted(header.cells[position - 1] ?? '')} (column ${position})`)
    .join(' and ');
  throw new Refusal(
    'column-duplicate',
    `${where}: expected one column for ${twice.column}, found ${words}. Remove or rename one, or name it in a profile`,
    { row: header.row, column: twice.column },
  );
}

/** A file that has a column of its own may say something else than the constant: in another currency, or of another merchant. */
function requireNoneOverruled({ header, map }: TableHeader, { where }: HeaderPlace): void {
  const one = map.overruled.find(({ isHarmless }) => !isHarmless);
  if (one === undefined) return;
  throw new Refusal(
    'column-overruled',
    `${where}: the profile gives every row the same ${one.column}, so expected no column for it, found ${quoted(one.header)}. Take ${one.column} out of the profile's "constants" and the column is read, or name the column in its "ignore" and it is not`,
    { row: header.row, column: one.column },
  );
}

function requireAll(
  { header, map }: TableHeader,
  { where, readWith, thing }: HeaderPlace,
  reference: IngestOptions['reference'],
): void {
  if (map.missing.length === 0) return;
  const parts = reference?.columns.filter((_, at) => map.referenceParts[at] === -1) ?? [];
  const advice =
    parts.length === 0
      ? 'Rename the columns, or name them in a profile'
      : `The profile builds the reference from ${parts.map((name) => `"${name}"`).join(' and ')}, which the ${thing} does not have: correct the profile`;
  const wanted = [...new Set([...REQUIRED_COLUMNS, ...map.missing])];
  throw new Refusal(
    'column-missing',
    `${where}${readWith}: expected a column for each of ${wanted.join(', ')}, found none for ${map.missing.join(', ')} among ${shownCells(header.cells)}. ${advice}`,
    { row: header.row, column: map.missing[0] ?? '' },
  );
}

/** Without both, the quotes that Lote put before formula signs would stay in the texts. */
function requireOwnColumns({ header, map }: TableHeader, { where }: HeaderPlace): void {
  if (!map.ownInPart) return;
  throw new Refusal(
    'corrections-damaged',
    `${where}: a corrections file has both columns lote_state and lote_reason, found one of them. Put the other one back (its cells may be empty)`,
    { row: header.row },
  );
}

function quoted(cell: string): string {
  return `"${shorten(cell.trim(), LONGEST_WORD_SHOWN)}"`;
}
