import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';
import { COLUMNS, REQUIRED_COLUMNS, type Column } from '../../domain/row.ts';
import type { CsvRecord } from '../csv/csv-reader.ts';
import type { IngestOptions } from '../ingest-result.ts';
import type { Finding } from '../../domain/invoice.ts';
import { note, shownCell, rowError, shorten, Refusal } from '../findings.ts';

/** The positions of Lote's columns in a header. */
export interface HeaderMap {
  /** One entry per entry of COLUMNS: index in the record, or -1 if the file has no such column. */
  readonly indexes: readonly number[];
  /** Indexes of the columns that form the reference; empty if the reference is not built from columns. */
  readonly referenceParts: readonly number[];
  readonly missing: readonly Column[];
  /** Columns claimed by several headers, with the positions (from 1) of the claims. */
  readonly duplicates: readonly { readonly column: Column; readonly positions: readonly number[] }[];
  readonly ignored: readonly string[];
  /** Headers whose meaning no person has confirmed; '' stands for a column without a header. */
  readonly unknown: readonly string[];
  readonly gone: readonly string[];
  readonly found: number;
  /** True if the file is a corrections file that Lote wrote. */
  readonly own: boolean;
  readonly readAs: number;
  readonly original: number;
  /** True if the file has only some of Lote's own columns, because a person deleted the others. */
  readonly ownInPart: boolean;
}

/** The header of a table, and which of its cells are columns of Lote. */
export interface TableHeader {
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

type HeaderOptions = Pick<IngestOptions, 'columns' | 'constants' | 'ignore' | 'reference' | 'skip' | 'invoices'>;

/** Headers that Lote appends to a corrections file and ignores when it reads it. */
const OWN_HEADERS: readonly string[] = ['lote_state', 'lote_reason'];
const ALL_OWN_HEADERS: readonly string[] = [...OWN_HEADERS, READ_AS, ORIGINAL];

/** Returns the column whose own name in Lote is this header; such a header needs no confirmation. */
function ownColumn(header: string): Column | undefined {
  const name = header
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/gu, '_');
  return COLUMNS.find((column) => column === name);
}

/** Returns a header as profiles name it: trimmed, and with each run of white space as one space. */
export function headerName(header: string): string {
  return header.normalize('NFC').trim().replaceAll(/\s+/gu, ' ');
}

/** Returns every header that a profile names. */
export function namedHeaders({ columns, ignore, reference, skip, invoices }: HeaderOptions): ReadonlySet<string> {
  const names = [columns ?? {}, Object.keys(skip ?? {}), Object.keys(invoices ?? {}), ignore ?? []];
  return new Set([...names.flatMap((some) => Object.values(some)), ...(reference?.columns ?? [])].map(headerName));
}

/** Returns the number of columns of a header. Cells after its last title belong to no column. */
export function widthOf(header: readonly string[]): number {
  return header.findLastIndex((cell) => cell.trim() !== '') + 1;
}

/** Finds Lote's columns in a header: first by the profile, then by Lote's own names. Every other header is unknown. */
export function mapHeader(
  cells: readonly string[],
  options: HeaderOptions = {},
  columnOf: (header: string) => Column | undefined = ownColumn,
): HeaderMap {
  const { columns = {}, constants = {}, reference } = options;
  const given = new Map(
    COLUMNS.flatMap((column) =>
      columns[column] === undefined ? [] : [[headerName(columns[column]), column] as const],
    ),
  );
  const named = namedHeaders(options);
  const hasOtherSource = (column: Column): boolean =>
    (columns[column] ?? constants[column]) !== undefined || (column === 'invoice_ref' && reference !== undefined);
  const partNames = (reference?.columns ?? []).map(headerName);
  const parts = partNames.map(() => [] as number[]);
  const claims = new Map<Column, number[]>();
  const ignored: string[] = [];
  const unknown: string[] = [];
  cells.slice(0, widthOf(cells)).forEach((cell, index) => {
    if (ALL_OWN_HEADERS.includes(cell.trim())) return;
    const name = headerName(cell);
    const part = partNames.indexOf(name);
    parts[part]?.push(index);
    const known = given.get(name) ?? (named.has(name) && part < 0 ? undefined : columnOf(cell));
    if (known !== undefined && (given.has(name) || !hasOtherSource(known)))
      claims.set(known, [...(claims.get(known) ?? []), index]);
    else if (!named.has(name)) unknown.push(cell.trim());
    else if (part < 0) ignored.push(cell.trim());
  });
  const own = OWN_HEADERS.filter((name) => cells.some((cell) => cell.trim() === name));
  const names = new Set(cells.map(headerName));
  return {
    indexes: COLUMNS.map((column) => claims.get(column)?.[0] ?? -1),
    referenceParts: parts.map((at) => at[0] ?? -1),
    missing: COLUMNS.filter((column) => {
      if (column === 'invoice_ref' && reference !== undefined) return parts.some((at) => at.length === 0);
      const isWanted = REQUIRED_COLUMNS.includes(column) || columns[column] !== undefined;
      return isWanted && !claims.has(column) && constants[column] === undefined;
    }),
    duplicates: duplicatesOf(claims, parts),
    ...{ ignored, unknown },
    gone: [...named].filter((name) => !names.has(name)),
    found: claims.size,
    own: own.length === OWN_HEADERS.length,
    readAs: cells.findIndex((cell) => cell.trim() === READ_AS),
    original: cells.findIndex((cell) => cell.trim() === ORIGINAL),
    ownInPart: own.length > 0 && own.length < OWN_HEADERS.length,
  };
}

function duplicatesOf(claims: ReadonlyMap<Column, readonly number[]>, parts: readonly (readonly number[])[]) {
  const all = [...claims, ...parts.map((at) => ['invoice_ref', at] as const)];
  return all
    .filter(([, at]) => at.length > 1)
    .map(([column, at]) => ({ column, positions: at.map((index) => index + 1) }));
}

/** Separates rows of invoices from rows that a profile declares to be no invoices, and counts the latter. */
export class SkippedRows {
  readonly #columns: readonly Readonly<{ label: string; skip: ReadonlySet<string>; invoices: ReadonlySet<string> }>[];
  readonly #counts = new Map<string, number>();

  constructor({ skip = {}, invoices = {} }: Pick<IngestOptions, 'skip' | 'invoices'>) {
    this.#columns = Object.entries(skip).map(([name, values]) => ({
      label: headerName(name),
      skip: new Set(values),
      invoices: new Set(Object.hasOwn(invoices, name) ? invoices[name] : []),
    }));
  }

  /** Returns `skipped`, null for a row of an invoice, or an error for a value that the profile does not name. */
  kindOf(row: number, valuesOf: (header: string) => readonly string[], rows = 1): 'skipped' | Finding | null {
    for (const { label, skip, invoices } of this.#columns) {
      const values = valuesOf(label).map((value) => value.trim());
      const [value = ''] = values;
      if (values.length > 0 && values.every((one) => skip.has(one))) {
        const key = `${label}: ${value}`;
        this.#counts.set(key, (this.#counts.get(key) ?? 0) + rows);
        return 'skipped';
      }
      const other = values.length === 0 ? '' : values.find((one) => !invoices.has(one));
      if (other === undefined) continue;
      const message = `expected a value that the mapping profile names in "skip" or in "invoices", found ${shownCell(other)}. Add it to one of them`;
      return rowError(row, label, 'row-kind-unknown', message);
    }
    return null;
  }

  /** One finding per value with the number of its rows, by which the report counts. */
  findings(): readonly Finding[] {
    return [...this.#counts].map(([key, rows]) => {
      const message = `${rows} rows are no invoices by the mapping profile and were skipped (${key})`;
      return { ...note('info', 'rows-skipped', message), rows };
    });
  }
}

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

/** Describes what is not confirmed, with the command that shows and confirms it. */
export function unconfirmed(unknown: readonly string[], gone: readonly string[]): string {
  const more = unknown.length > MOST_COLUMNS_SHOWN ? ` and ${unknown.length - MOST_COLUMNS_SHOWN} more` : '';
  const found =
    unknown.length === 0 ? '' : `found ${shownCells(unknown)}${more}, whose meaning no person has confirmed`;
  const lost = gone.length === 0 ? '' : `found no ${shownCells(gone)}, which the mapping profile names`;
  const all = [found, lost].filter((part) => part !== '').join(', and ');
  return `expected Lote's own column names, or a layout that a mapping profile confirms, ${all}. Look at the proposal and save it: ${CONFIRM_COMMAND}`;
}

/** The command that shows and confirms a layout. */
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
