/** All that a file asks for: every invoice of it, also those that are invalid, and exact decimals by currency. */
export interface FileTotal {
  readonly invoices: number;
  /** Of the invoices whose amount can be read. */
  readonly net: Readonly<Record<string, string>>;
}

/** Whether the total of a file was compared with that of earlier files of its pattern, and what came of it. */
export type TotalCheck =
  /** `LOTE_TOTAL_FACTOR` is off, or there was a reason already for which nothing is sent. */
  | { readonly kind: 'off' }
  /** The person who started the batch declared number and net, and the file has them. */
  | { readonly kind: 'declared' }
  /** A corrections file: some rows of another file, with nothing to be compared with. */
  | { readonly kind: 'corrections' }
  /** Only so many earlier batches of the pattern are there to compare with. */
  | { readonly kind: 'too-few'; readonly batches: number; readonly needed: number }
  | { readonly kind: 'usual'; readonly batches: number; readonly factor: number; readonly usual: FileTotal }
  /** Nothing is sent until an operator has confirmed the total. */
  | {
      readonly kind: 'unusual';
      readonly batches: number;
      readonly factor: number;
      readonly usual: FileTotal;
      /** How the total differs, in a sentence. */
      readonly difference: string;
    };

/** The check of one batch as the ledger has it. */
export interface SavedTotalCheck {
  /** Name of the file with its digits and dates folded. */
  readonly pattern: string;
  readonly total: FileTotal;
  readonly check: TotalCheck;
  /** Epoch milliseconds; null: no operator has confirmed the total. */
  readonly confirmedAt: number | null;
}

/** True while nothing of the batch may be sent until an operator has confirmed its total. */
export function awaitsConfirmation(saved: SavedTotalCheck | null): boolean {
  return saved !== null && saved.check.kind === 'unusual' && saved.confirmedAt === null;
}
