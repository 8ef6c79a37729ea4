import { FIELDS, type Finding, type Invoice } from './invoice.ts';

/** Store for rows until the whole file is read: memory for a dry run, the ledger for a batch. */
export interface RowStore {
  append(rows: readonly RawRow[]): Promise<void>;
  /** Groups of rows that may be one invoice (`groupKeyOf` in `look-alike.ts`), by the first row of each, rows in file order. */
  groups(): AsyncIterable<readonly RawRow[]>;
}

/** Name of a column that Lote reads, as in the header of a CSV file without a mapping profile. */
export type Column = keyof typeof FIELDS;

/** Columns of the published file format, in their default order. */
export const COLUMNS = Object.keys(FIELDS) as readonly Column[];

/** Columns that a CSV file must have, unless its mapping profile says otherwise. All other columns are optional. */
export const REQUIRED_COLUMNS: readonly Column[] = COLUMNS.filter((column) => !FIELDS[column].isOptional);

/** One record of a file that belongs to an invoice. Its cells are as read, because number marks are proved per column at the end. */
export interface RawRow {
  /** The file's own line number (CSV) or the line object's ordinal (JSON). */
  readonly row: number;
  /** Grouping key: trimmed reference. Never empty. */
  readonly ref: string;
  /** Grouping key: digits of the merchant's NIF. Never empty. */
  readonly nif: string;
  /** Ordinal of the JSON object that held this line; null in CSV, where rows of one identity are one invoice. */
  readonly object: number | null;
  /** One cell per entry of COLUMNS; null where the file has no such cell. */
  readonly cells: readonly (string | null)[];
}

/** The result for the rows of one identity: an invoice, or the findings that make it invalid. */
export type GroupedInvoice =
  | {
      readonly ok: true;
      readonly invoice: Invoice;
      readonly rows: readonly number[];
      readonly findings: readonly Finding[];
    }
  | {
      readonly ok: false;
      readonly ref: string;
      readonly nif: string;
      readonly rows: readonly number[];
      /** Present if the currency is readable all the same, so that totals can count the invoice. */
      readonly currency: string | null;
      readonly net: string | null;
      readonly findings: readonly Finding[];
    };

/**
 * Returns the number of rows without an invoice that are neither totals rows nor skipped: each may be a lost line or
 * invoice. Findings are bounded; a totals row without its finding counts as lost, so that the error is visible.
 */
export function lostRows(rowsWithoutInvoice: number, fileFindings: readonly Finding[]): number {
  const skipped = fileFindings.reduce((sum, { rows = 0 }) => sum + rows, 0);
  return rowsWithoutInvoice - skipped - fileFindings.filter(({ code }) => code === 'totals-row').length;
}

/** True if no row of a file is lost and nothing is wrong with the file as a whole. */
export function isWholeFile(rowsLost: number, fileFindings: readonly Finding[]): boolean {
  // A purge removes findings, but does not bring lost rows back.
  return rowsLost === 0 && fileFindings.every(({ severity }) => severity !== 'error');
}
