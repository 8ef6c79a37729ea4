import { FIELDS } from '../../domain/invoice.ts';
import { COLUMNS, type Column } from '../../domain/row.ts';
import { note, type FindingList, shorten } from '../findings.ts';
import type { Dialect, Proof, ReadColumn } from '../ingest-result.ts';
import { widthOf, type TableHeader } from '../profile/map-header.ts';
import type { CsvRecord } from './csv-reader.ts';

/** Most headers that a finding or a proof shows; a file may have 10,000. */
export const MOST_HEADERS_SHOWN = 50;
/** A hostile header cell may be a megabyte long, and each finding repeats it. */
const LONGEST_LABEL = 80;

/** Returns the file's own name for a column. */
export function labelOf({ header, map }: TableHeader, column: Column): string {
  return shorten(header.cells[map.indexes[COLUMNS.indexOf(column)] ?? -1]?.trim() ?? column, LONGEST_LABEL);
}

/** Adds a finding if records stand above a header. `expectedRow` is the header's row without such records. */
export function reportHeader(findings: FindingList, { row }: CsvRecord, expectedRow: number): void {
  if (row <= expectedRow) return;
  findings.add(note('info', 'preamble', `The header stands in row ${row}; what is above it was left out`, row));
}

/** Returns the file's own names for all columns. */
export function labelsOf(dialect: TableHeader): Record<Column, string> {
  return Object.fromEntries(COLUMNS.map((column) => [column, labelOf(dialect, column)])) as Record<Column, string>;
}

/** Returns, for the proof, which header became which column, and which headers are not sent. */
export function tableProof({ header, map }: TableHeader): Proof {
  const read = readColumns({ header, map: { ...map, referenceParts: [] } });
  const columns = read.map(({ at, ...one }) => ({ ...one, position: at + 1 }));
  return { header: columns, ignored: map.ignored.slice(0, MOST_HEADERS_SHOWN).map((name) => shorten(name, 80)) };
}

/** Returns the dialect that a table header determines. */
export function tableDialect({ header, map }: TableHeader): Pick<Dialect, 'headerRow' | 'header' | 'own' | 'read'> {
  return { headerRow: header.row, header: header.cells, own: map.own, read: readColumns({ header, map }) };
}

/** Returns the columns of a header that Lote reads, including the parts of a reference. */
export function readColumns({ header, map }: TableHeader): readonly ReadColumn[] {
  const read = [
    ...COLUMNS.map((column, at) => ({ at: map.indexes[at] ?? -1, column })),
    ...map.referenceParts.map((at) => ({ at, column: 'invoice_ref' as const })),
  ];
  return read
    .filter(({ at }) => at >= 0)
    .map(({ at, column }) => ({ at, column, header: shorten(header.cells[at]?.trim() ?? '', LONGEST_LABEL) }));
}

/** How many cells the rows below a header have. */
export interface RowWidth {
  readonly columns: number;
  /** Cells of the header behind its last title, which a line of text writes as delimiters. A sheet has none. */
  readonly trailing: number;
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
