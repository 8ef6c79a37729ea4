/** The number of invoices of a file, including invalid ones, and their exact net by currency. */
export interface FileTotal {
  readonly invoices: number;
  /** Net of the invoices with a readable amount. */
  readonly net: Readonly<Record<string, string>>;
}

/** The result of comparing the total of a file with earlier files of its pattern. */
export type TotalCheck =
  /** `LOTE_TOTAL_FACTOR` is off, or another reason already stops sending. */
  | { readonly kind: 'off' }
  /** The person who started the batch declared number and net, and the file matches them. */
  | { readonly kind: 'declared' }
  /** A corrections file has only some rows of another file, so no comparison is possible. */
  | { readonly kind: 'corrections' }
  /** Too few earlier batches of the pattern exist for a comparison. */
  | { readonly kind: 'too-few'; readonly batches: number; readonly needed: number }
  | { readonly kind: 'usual'; readonly batches: number; readonly factor: number; readonly usual: FileTotal }
  /** Nothing is sent until an operator has confirmed the total. */
  | {
      readonly kind: 'unusual';
      readonly batches: number;
      readonly factor: number;
      readonly usual: FileTotal;
      /** A sentence that says how the total differs. */
      readonly difference: string;
    };

/** The check of one batch as the ledger stores it. */
export interface SavedTotalCheck {
  /** Name of the file with its digits and dates folded. */
  readonly pattern: string;
  readonly total: FileTotal;
  readonly check: TotalCheck;
  /** Epoch milliseconds; null if no operator has confirmed the total. */
  readonly confirmedAt: number | null;
}

/** True while Lote sends nothing of the batch because an operator has not confirmed its total. */
export function awaitsConfirmation(saved: SavedTotalCheck | null): boolean {
  return saved !== null && saved.check.kind === 'unusual' && saved.confirmedAt === null;
}
