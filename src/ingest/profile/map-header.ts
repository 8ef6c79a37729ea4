import { ORIGINAL, READ_AS } from '../../domain/read-as.ts';
import { COLUMNS, REQUIRED_COLUMNS, type Column } from '../../domain/row.ts';
import { widthOf } from '../csv/row-width.ts';
import type { IngestOptions } from '../ingest-options.ts';
import type { Finding } from '../../domain/invoice.ts';
import { shownCell } from '../invoice/cell-findings.ts';
import { rowError } from '../findings.ts';

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
  readonly #columns: readonly {
    readonly label: string;
    readonly skip: ReadonlySet<string>;
    readonly invoices: ReadonlySet<string>;
  }[];
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
      if (other !== undefined) return unnamed(row, label, other);
    }
    return null;
  }

  /** One finding per value with the number of its rows, by which the report counts. */
  findings(): readonly Finding[] {
    return [...this.#counts].map(([key, rows]) => ({
      row: null,
      column: null,
      code: 'rows-skipped',
      message: `${rows} rows are no invoices by the mapping profile and were skipped (${key})`,
      severity: 'info',
      rows,
    }));
  }
}

function unnamed(row: number, label: string, value: string): Finding {
  const message = `expected a value that the mapping profile names in "skip" or in "invoices", found ${shownCell(value)}. Add it to one of them`;
  return rowError(row, label, 'row-kind-unknown', message);
}
