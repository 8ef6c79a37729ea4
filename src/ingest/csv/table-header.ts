import { COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import type { FindingList } from '../finding-list.ts';
import { shorten } from '../invoice/shorten.ts';
import type { ReadColumn } from '../ingest-result.ts';
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

/** Says what of a header, and of what stands above it, is not read. `expectedRow`: where it stands when nothing is above it. */
export function reportHeader(
  findings: FindingList,
  { header, map, expectedRow }: TableHeader & { readonly expectedRow: number },
): void {
  if (header.row > expectedRow) {
    findings.add({
      row: header.row,
      column: null,
      code: 'preamble',
      message: `The header stands in row ${header.row}; what is above it was left out`,
      severity: 'info',
    });
  }
  for (const { column, header: name } of map.overruled) {
    const message = `The profile gives every row a constant ${column}, so the file's own column "${shorten(name, 40)}" is not read`;
    findings.add({
      row: header.row,
      column: shorten(name, 80),
      code: 'constant-overrules',
      message,
      severity: 'warning',
    });
  }
  if (map.ignored.length === 0) return;
  const shown = map.ignored
    .slice(0, MOST_HEADERS_SHOWN)
    .map((name) => `"${shorten(name, 40)}"`)
    .join(', ');
  const more = map.ignored.length > MOST_HEADERS_SHOWN ? ` and ${map.ignored.length - MOST_HEADERS_SHOWN} more` : '';
  findings.add({
    row: header.row,
    column: null,
    code: 'columns-ignored',
    message: `These columns are not part of an invoice and are not sent: ${shown}${more}`,
    severity: 'info',
  });
}

/** The file's own words for all columns. */
export function labelsOf(dialect: TableHeader): Record<Column, string> {
  return Object.fromEntries(COLUMNS.map((column) => [column, labelOf(dialect, column)])) as Record<Column, string>;
}

/** Which header was taken for which column, for the proof. */
export function headerProof({
  header,
  map,
}: TableHeader): readonly { column: Column; header: string; position: number }[] {
  return COLUMNS.flatMap((column, at) => {
    const index = map.indexes[at] ?? -1;
    return index < 0 ? [] : [{ column, header: shorten(header.cells[index]?.trim() ?? '', 80), position: index + 1 }];
  });
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
