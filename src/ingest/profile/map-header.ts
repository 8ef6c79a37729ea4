import { COLUMNS, REQUIRED_COLUMNS } from '../../domain/row.ts';
import type { Column } from '../../domain/row.ts';
import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';
import { HEADER_SYNONYMS } from './header-synonyms.ts';
import type { IngestOptions } from '../ingest-options.ts';

/** A header of a column that the profile gives as a constant. */
export interface OverruledHeader {
  readonly column: Column;
  readonly header: string;
  /** Name and e-mail of a merchant whose NIF is a constant, too: whatever stands there, the invoices say the same. */
  readonly isHarmless: boolean;
}

/** Where the columns of Lote stand in a header. */
export interface HeaderMap {
  /** One entry per entry of COLUMNS: index in the record, -1 when the file has no such column. */
  readonly indexes: readonly number[];
  /** Indexes of the columns that a reference is built from; empty when it is not built. */
  readonly referenceParts: readonly number[];
  /** Required, or named by a profile, and not there. */
  readonly missing: readonly Column[];
  /** Columns claimed by several headers, with the positions (from 1) of the claims. */
  readonly duplicates: readonly { readonly column: Column; readonly positions: readonly number[] }[];
  /** Headers that belong to no column. */
  readonly ignored: readonly string[];
  /** Headers of a column for which the profile has a constant, and which it does not name. */
  readonly overruled: readonly OverruledHeader[];
  /** How many columns of Lote were found. */
  readonly found: number;
  /** The file is a corrections file that Lote wrote. */
  readonly own: boolean;
  /** Index of the column that says how a corrections file was read; -1 when there is none. */
  readonly readAs: number;
  /** Index of the column with the original cells of a corrections file; -1 when there is none. */
  readonly original: number;
  /** Lote's own columns of which only some are there: somebody deleted the others. */
  readonly ownInPart: boolean;
}

export type HeaderOptions = Pick<IngestOptions, 'columns' | 'constants' | 'ignore' | 'reference'>;

/** Appended by Lote to a corrections file, ignored on the way back in. */
const OWN_HEADERS: readonly string[] = ['lote_state', 'lote_reason'];
/** All columns that Lote may add to a corrections file. */
export const ALL_OWN_HEADERS: readonly string[] = [...OWN_HEADERS, READ_AS, ORIGINAL];

/** They say something of a merchant, and not which one it is. */
const ABOUT_MERCHANT: ReadonlySet<Column> = new Set<Column>(['merchant_legal_name', 'merchant_email']);

/** A Map and not an object: headers are hostile (`__proto__`, `constructor`). */
const COLUMN_BY_KEY: ReadonlyMap<string, Column> = new Map(
  COLUMNS.flatMap((column) =>
    [column, ...HEADER_SYNONYMS[column]].map((name): [string, Column] => [headerKey(name), column]),
  ),
);

/** Words that join others: `Código de IVA` is `Código IVA`, `Nome do cliente` is `Nome cliente`. */
const PARTICLES: ReadonlySet<string> = new Set(['de', 'do', 'da', 'dos', 'das', 'del', 'of', 'the']);

/** A header without case, accents, spaces and punctuation. */
export function headerKey(header: string): string {
  return header
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function withoutParticles(header: string): string {
  return header
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((word) => !PARTICLES.has(word.toLowerCase()))
    .join(' ');
}

function knownColumn(header: string): Column | undefined {
  return COLUMN_BY_KEY.get(headerKey(header)) ?? COLUMN_BY_KEY.get(headerKey(withoutParticles(header)));
}

/**
 * Finds the columns of Lote in a header. Names given in `columns` win over everything; they, a constant and a built reference silence the
 * synonyms of their column, and `ignore` those of a header.
 */
export function mapHeader(cells: readonly string[], options: HeaderOptions = {}): HeaderMap {
  const { columns = {}, constants = {}, ignore = [], reference } = options;
  const given = new Map(
    Object.entries(columns).map(([column, header]): [string, string] => [headerKey(header), column]),
  );
  const silenced = new Set([
    ...Object.keys(columns),
    ...Object.keys(constants),
    ...(reference === undefined ? [] : ['invoice_ref']),
  ]);
  const notRead = new Set(ignore.map((header) => headerKey(header)));
  const claims = new Map<Column, number[]>();
  const ignored: string[] = [];
  const overruled: OverruledHeader[] = [];
  const partKeys = (reference?.columns ?? []).map((name) => headerKey(name));
  const parts = partKeys.map(() => [] as number[]);
  cells.forEach((cell, index) => {
    const key = headerKey(cell);
    const part = partKeys.indexOf(key);
    parts[part]?.push(index);
    const known = notRead.has(key) ? undefined : knownColumn(cell);
    const column = columnOf(given.get(key), known, silenced);
    if (column === undefined && part < 0 && known !== undefined && constants[known] !== undefined)
      overruled.push({
        ...{ column: known, header: cell.trim() },
        isHarmless: ABOUT_MERCHANT.has(known) && constants.merchant_nif !== undefined,
      });
    const earlier = column === undefined ? undefined : claims.get(column);
    if (earlier !== undefined) earlier.push(index);
    else if (column !== undefined) claims.set(column, [index]);
    else if (part < 0 && cell.trim() !== '' && !ALL_OWN_HEADERS.includes(cell.trim())) ignored.push(cell.trim());
  });
  const own = OWN_HEADERS.filter((name) => cells.some((cell) => cell.trim() === name));
  return {
    indexes: COLUMNS.map((column) => claims.get(column)?.[0] ?? -1),
    referenceParts: parts.map((at) => at[0] ?? -1),
    missing: COLUMNS.filter((column) => {
      if (column === 'invoice_ref' && reference !== undefined) return parts.some((at) => at.length === 0);
      const isWanted = REQUIRED_COLUMNS.includes(column) || columns[column] !== undefined;
      return isWanted && !claims.has(column) && constants[column] === undefined;
    }),
    duplicates: duplicatesOf(claims, parts),
    ignored,
    overruled,
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

function columnOf(
  given: string | undefined,
  known: Column | undefined,
  silenced: ReadonlySet<string>,
): Column | undefined {
  const declared = COLUMNS.find((column) => column === given);
  if (declared !== undefined) return declared;
  return known === undefined || silenced.has(known) ? undefined : known;
}
