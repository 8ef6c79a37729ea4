/** One line of an invoice; amounts are canonical decimal strings (no exponent, no superfluous zeros). */
export interface InvoiceLine {
  readonly description: string;
  readonly quantity: string;
  readonly unitPrice: string;
  readonly taxCode: string;
}

/** A valid invoice as read from a file. Only the published fields of it are ever sent to the service. */
export interface Invoice {
  readonly ref: string;
  readonly merchant: { readonly nif: string; readonly legalName: string | null; readonly email: string | null };
  readonly customer: { readonly name: string; readonly taxId: string | null };
  /** Three capital letters. */
  readonly currency: string;
  readonly lines: readonly InvoiceLine[];
}

/** What an operator reads about a row: located, and in the words of the file. */
export interface Finding {
  /** Physical line on which a CSV record starts; ordinal of the line object, from 1, in JSON; null: the whole file. */
  readonly row: number | null;
  readonly column: string | null;
  /** Stable kebab-case code, e.g. `quantity-unreadable`. */
  readonly code: string;
  readonly message: string;
  readonly severity: 'error' | 'warning' | 'info';
  /** Of `rows-skipped`: how many rows it is about. */
  readonly rows?: number;
}

/** Why an invoice is in its state; every state but `issued` and `already-issued` has one. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}
