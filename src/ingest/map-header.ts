import { COLUMNS, REQUIRED_COLUMNS } from '../domain/row.ts';
import type { Column } from '../domain/row.ts';
import { HEADER_SYNONYMS } from './header-synonyms.ts';

/** Where the columns of Lote stand in a header. */
export interface HeaderMap {
  /** One entry per entry of COLUMNS: index in the record, -1 when the file has no such column. */
  readonly indexes: readonly number[];
  readonly missing: readonly Column[];
  /** Columns claimed by several headers, with the positions (from 1) of the claims. */
  readonly duplicates: readonly { readonly column: Column; readonly positions: readonly number[] }[];
  /** Headers that belong to no column. */
  readonly ignored: readonly string[];
  /** How many columns of Lote were found. */
  readonly found: number;
  /** The file is a corrections file that Lote wrote. */
  readonly own: boolean;
}

/** Appended by Lote to a corrections file, ignored on the way back in. */
const OWN_HEADERS: readonly string[] = ['lote_state', 'lote_reason'];

/** A Map and not an object: headers are hostile (`__proto__`, `constructor`). */
const COLUMN_BY_KEY: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) =>
    [column, ...HEADER_SYNONYMS[column]].map((name): [string, Column] => [headerKey(name), column]),
  ),
);

/** A header without case, accents, spaces and punctuation. */
export function headerKey(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** Finds the columns of Lote in a header; names given in `columns` win over everything and silence the synonyms of their column. */
export function mapHeader(
  cells: readonly string[],
  columns: Readonly<Partial<Record<Column, string>>> = {},
): HeaderMap {
  const given = new Map(
    Object.entries(columns).map(([column, header]): [string, string] => [headerKey(header), column]),
  );
  const claims = new Map<Column, number[]>();
  const ignored: string[] = [];
  cells.forEach((cell, index) => {
    const column = columnOf(cell, given, columns);
    const earlier = column === undefined ? undefined : claims.get(column);
    if (earlier !== undefined) earlier.push(index);
    else if (column !== undefined) claims.set(column, [index]);
    else if (cell.trim() !== '' && !OWN_HEADERS.includes(cell.trim())) ignored.push(cell.trim());
  });
  return {
    indexes: COLUMNS.map((column) => claims.get(column)?.[0] ?? -1),
    missing: REQUIRED_COLUMNS.filter((column) => !claims.has(column)),
    duplicates: [...claims]
      .filter(([, at]) => at.length > 1)
      .map(([column, at]) => ({ column, positions: at.map((index) => index + 1) })),
    ignored,
    found: claims.size,
    own: OWN_HEADERS.every((name) => cells.some((cell) => cell.trim() === name)),
  };
}

function columnOf(
  cell: string,
  given: ReadonlyMap<string, string>,
  columns: Readonly<Partial<Record<Column, string>>>,
): Column | undefined {
  const key = headerKey(cell);
  const declared = COLUMNS.find((column) => column === given.get(key));
  if (declared !== undefined) return declared;
  const known = COLUMN_BY_KEY.get(key);
  return known === undefined || columns[known] !== undefined ? undefined : known;
}
