import { COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { note, type FindingList, shorten } from '../findings.ts';
import type { Dialect, Proof, ReadColumn } from '../ingest-result.ts';
import type { HeaderMap } from '../profile/map-header.ts';
import type { CsvRecord } from './csv-reader.ts';

/** The header of a table, and which of its cells are columns of Lote. */
export interface TableHeader {
  readonly header: CsvRecord;
  readonly map: HeaderMap;
}

/** As much of it as is kept with a batch. */
export interface HeaderPlaces {
  readonly header: CsvRecord;
  readonly map: Pick<HeaderMap, 'indexes' | 'referenceParts'>;
}

/** Headers shown in a finding or a proof; a file may have 10,000. */
export const MOST_HEADERS_SHOWN = 50;
/** A hostile header cell may be a megabyte long, and each finding repeats it. */
const LONGEST_LABEL = 80;

/** The file's own word for a column. */
export function labelOf({ header, map }: HeaderPlaces, column: Column): string {
  return shorten(header.cells[map.indexes[COLUMNS.indexOf(column)] ?? -1]?.trim() ?? column, LONGEST_LABEL);
}

/** Says that something stands above a header. `expectedRow`: where it stands when nothing is above it. */
export function reportHeader(findings: FindingList, { row }: CsvRecord, expectedRow: number): void {
  if (row <= expectedRow) return;
  findings.add(note('info', 'preamble', `The header stands in row ${row}; what is above it was left out`, row));
}

/** The file's own words for all columns. */
export function labelsOf(dialect: TableHeader): Record<Column, string> {
  return Object.fromEntries(COLUMNS.map((column) => [column, labelOf(dialect, column)])) as Record<Column, string>;
}

/** Which header was taken for which column, and which is not sent, for the proof. */
export function tableProof({ header, map }: TableHeader): Proof {
  const columns = COLUMNS.flatMap((column, at) => {
    const index = map.indexes[at] ?? -1;
    return index < 0 ? [] : [{ column, header: shorten(header.cells[index]?.trim() ?? '', 80), position: index + 1 }];
  });
  return { header: columns, ignored: map.ignored.slice(0, MOST_HEADERS_SHOWN).map((name) => shorten(name, 80)) };
}

/** What a table says of how its file is written. */
export function tableDialect({ header, map }: TableHeader): Pick<Dialect, 'headerRow' | 'header' | 'own' | 'read'> {
  return { headerRow: header.row, header: header.cells, own: map.own, read: readColumns({ header, map }) };
}

/** The columns of a header that are read, with the parts of a reference. */
export function readColumns({ header, map }: HeaderPlaces): readonly ReadColumn[] {
  const read = [
    ...COLUMNS.map((column, at) => ({ at: map.indexes[at] ?? -1, column })),
    ...map.referenceParts.map((at) => ({ at, column: 'invoice_ref' as const })),
  ];
  return read
    .filter(({ at }) => at >= 0)
    .map(({ at, column }) => ({ at, column, header: shorten(header.cells[at]?.trim() ?? '', LONGEST_LABEL) }));
}
