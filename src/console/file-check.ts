import type { Finding } from '../domain/invoice.ts';

/** What a dry run found; nothing left the machine. */
export interface FileCheck {
  readonly refused: boolean;
  readonly sha256: string;
  readonly proof: Readonly<Record<string, unknown>>;
  readonly rows: number;
  readonly rowsWithoutInvoice: number;
  /** Of those, rows that are no totals rows. */
  readonly rowsLost: number;
  readonly invoices: number;
  readonly invalid: number;
  /** By currency, of the valid invoices. */
  readonly net: Readonly<Record<string, string>>;
  readonly findings: readonly Finding[];
  /** The first invoices as they would be sent. */
  readonly firstBodies: readonly string[];
  /** In what it is read otherwise now than when these bytes were started: a start would hold the rest of it. Left out or empty: in nothing. */
  readonly readOtherwise?: readonly string[];
}

/** What somebody has looked at before the start; what is left out is not compared. */
export interface CheckedBytes {
  /** SHA-256 of the file. */
  readonly sha256?: string | undefined;
  /** SHA-256 of the mapping profile with which it was read; empty: without one. */
  readonly profile?: string | undefined;
}
