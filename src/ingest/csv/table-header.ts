import { COLUMNS, type Column } from '../../domain/row.ts';
import { note, type FindingList, shorten } from '../findings.ts';
import type { Dialect, Proof, ReadColumn } from '../ingest-result.ts';
import type { HeaderPlaces, TableHeader } from '../profile/map-header.ts';
import type { CsvRecord } from './csv-reader.ts';

/** Most headers that a finding or a proof shows; a file may have 10,000. */
export const MOST_HEADERS_SHOWN = 50;
/** A hostile header cell may be a megabyte long, and each finding repeats it. */
const LONGEST_LABEL = 80;

/** Returns the file's own name for a column. */
export function labelOf({ header, map }: HeaderPlaces, column: Column): string {
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
export function readColumns({ header, map }: HeaderPlaces): readonly ReadColumn[] {
  const read = [
    ...COLUMNS.map((column, at) => ({ at: map.indexes[at] ?? -1, column })),
    ...map.referenceParts.map((at) => ({ at, column: 'invoice_ref' as const })),
  ];
  return read
    .filter(({ at }) => at >= 0)
    .map(({ at, column }) => ({ at, column, header: shorten(header.cells[at]?.trim() ?? '', LONGEST_LABEL) }));
}
