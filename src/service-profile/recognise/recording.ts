import type { Document } from '../place.ts';

/** An invoice that was made to see what becomes of it. */
export interface RecordedInvoice {
  /** Null: nothing in the answer was proved to be its id. */
  readonly id: string | null;
  readonly created: Document;
  /** The answers to GET, in order. */
  readonly shown: readonly Document[];
}

/** What was asked of a service, and its answers. */
export interface Recording {
  /** The list of merchants after the creation; null: no answer came. */
  readonly list: Document | null;
  readonly merchant: {
    readonly nif: string;
    /** Null: it was there before, or no answer came. */
    readonly created: Document | null;
    /** Null: it is not known. */
    readonly id: string | null;
    readonly proof: string;
  };
  readonly invoice: RecordedInvoice | null;
  /** The same key and bytes again. */
  readonly repeated: Document | null;
  /** The same key with other bytes. */
  readonly mismatch: Document | null;
  /** An invoice without lines. */
  readonly refused: Document | null;
  /** An invoice that had to fail; null: none was made. */
  readonly failing: RecordedInvoice | null;
  /** Deliveries, of which those that prove where they come from if any does. */
  readonly deliveries: readonly Document[];
}
