import type { Finding, Invoice } from './invoice.ts';

/** Where rows wait until the whole file is read: in memory for a dry run, in the ledger for a batch. */
export interface RowStore {
  append(rows: readonly RawRow[]): Promise<void>;
  /** Rows that may be of one invoice (`groupKeyOf` in `look-alike.ts`), in file order of each group's first row; rows inside a group in file order. */
  groups(): AsyncIterable<readonly RawRow[]>;
}

/** Columns of the published file format, in their default order. */
export const COLUMNS = [
  'invoice_ref',
  'merchant_nif',
  'merchant_legal_name',
  'merchant_email',
  'customer_name',
  'customer_tax_id',
  'currency',
  'description',
  'quantity',
  'unit_price',
  'tax_code',
] as const;

/** Name of a column that Lote reads, as in the header of a CSV file without a mapping profile. */
export type Column = (typeof COLUMNS)[number];

/** Columns that a CSV file must have, unless its mapping profile says otherwise. The others may be missing. */
export const REQUIRED_COLUMNS: readonly Column[] = [
  'invoice_ref',
  'merchant_nif',
  'customer_name',
  'currency',
  'description',
  'quantity',
  'unit_price',
  'tax_code',
];

/** One record of a file that belongs to an invoice: cells as read, not yet converted (number marks are proved per column at the end). */
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

/** What became of the rows of one identity: an invoice, or the findings that keep it from being one. */
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
      /** Present when it could be read all the same, so that totals can count it. */
      readonly currency: string | null;
      readonly net: string | null;
      readonly findings: readonly Finding[];
    };

/**
 * Rows that belong to no invoice and are neither totals rows nor skipped: each may be a lost line, or a lost invoice. Findings of a file are bounded; a totals
 * row whose finding was left out counts as lost, which errs on the loud side.
 */
export function lostRows(rowsWithoutInvoice: number, fileFindings: readonly Finding[]): number {
  const skipped = fileFindings.reduce((sum, { rows = 0 }) => sum + rows, 0);
  return rowsWithoutInvoice - skipped - fileFindings.filter(({ code }) => code === 'totals-row').length;
}

/** Whether no row of a file is lost, and nothing is wrong with the file as a whole. */
export function isWholeFile(rowsLost: number, fileFindings: readonly Finding[]): boolean {
  // A purge removes findings, and no row is found again by that.
  return rowsLost === 0 && fileFindings.every(({ severity }) => severity !== 'error');
}
