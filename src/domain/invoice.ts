/** One line of an invoice; amounts are canonical decimal strings (no exponent, no superfluous zeros). */
export interface InvoiceLine {
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly taxCode: string;
}

/** A valid invoice as read from a file. Lote sends only its published fields to the service. */
export interface Invoice {
  readonly ref: string;
  readonly merchant: { readonly nif: string; readonly legalName: string | null; readonly email: string | null };
  readonly customer: { readonly name: string; readonly taxId: string | null };
  /** Three capital letters. */
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
}

/** A message to the operator about a row, with its place and in the words of the file. */
export interface Finding {
  /** Physical line of a CSV record's start, or ordinal of the JSON line object, from 1; null for the whole file. */
  readonly row: number | null;
  readonly column: string | null;
  /** Stable kebab-case code, e.g. `quantity-unreadable`. */
  readonly code: string;
  readonly message: string;
  readonly severity: 'error' | 'warning' | 'info';
  /** For `rows-skipped`: the number of skipped rows. */
  readonly rows?: number;
}

/** Why an invoice is in its state; every state but `issued` and `already-issued` has one. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}
