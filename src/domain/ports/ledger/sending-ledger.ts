import type { AnswerCounts } from '../../answer-counts.ts';
import type { Invoice, Reason } from '../../invoice.ts';
import type { FencingToken, InvoiceTry } from './batch-record.ts';
import type { SettledInvoice } from './settling-ledger.ts';

/** An invoice to send, of generation `generation`. */
export interface SendableInvoice {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly generation: number;
  readonly invoice: Invoice;
  readonly idempotencyKey: string;
  readonly state: 'staged' | 'sending';
  /** The frozen bytes when it was `sending` already; a POST of them may have reached the service. */
  readonly body: string | null;
  /** The service's id of the merchant, when known. */
  readonly merchantId: string | null;
  readonly attempts: number;
  /** First POST of this generation; null when none was tried. */
  readonly firstSentAt: number | null;
  /** An answer of this generation was lost, a crash may have lost one, or the ledger has a sending gap. */
  readonly mayExist: boolean;
  /**
   * Since when a lost POST of this generation may have reached the service, or an operator last accepted that; null:
   * every earlier one is proved not to have. Of one that is `staged`: since when the sending gap is open.
   */
  readonly mayExistSince: number | null;
  /** The service kept an error under its key when it was last sent. */
  readonly errorKept?: true;
}

/** Bytes of the POST of one generation. They are committed before the first POST and never change. */
export interface FreezeInvoice {
  readonly invoiceId: number;
  readonly generation: number;
  readonly body: string;
  /** As in `SendableInvoice`; left out or null: no POST of it can have left before. */
  readonly mayExistSince?: number | null;
}

/** What became of one invoice's POSTs, after this process is done with it for now. */
export type SendOutcome =
  | { readonly kind: 'accepted'; readonly serviceId: string }
  /** `proven`: it refuses a repeat, and proves that no earlier POST under the key created anything. */
  | { readonly kind: 'rejected'; readonly reason: Reason; readonly proven?: true }
  | { readonly kind: 'unknown'; readonly reason: Reason }
  | { readonly kind: 'held'; readonly reason: Reason }
  /** Stays `sending`: to be tried again later with the same key and bytes. */
  | { readonly kind: 'pending'; readonly reason: Reason; readonly mayExist: boolean };

/** Result of POSTing one invoice, to be recorded. Times are epoch milliseconds. */
export interface RecordSend {
  readonly invoiceId: number;
  readonly generation: number;
  /** POSTs made since the last record. */
  readonly attempts: number;
  readonly sentAt: number;
  /** When the answer came: the settle time starts with it. Left out: `sentAt`. */
  readonly answeredAt?: number;
  readonly outcome: SendOutcome;
  /** When reconciliation took it for this repeat; a refusal proves nothing when it was taken or handed out again since. */
  readonly takenAt?: number;
  /** Those of these POSTs that brought no final word; left out: none. */
  readonly tries?: readonly InvoiceTry[];
}

export interface CountAnswers {
  /** Of the retry policy: what failed with one of them, below so many generations, is sent again. */
  readonly retryableCodes: readonly string[];
  readonly maxGenerations: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Where an unsent invoice of a batch stands, and whose it is. */
export interface UnsentInvoice {
  readonly ordinal: number;
  readonly merchantNif: string;
}

/** An invoice that begins in this row of its file, and the generation that it had reached. */
export interface SentAgain {
  readonly firstRow: number;
  readonly generation: number;
}

/** The invoices of a batch that are still to be sent: handing out, freezing, recording answers, holding. */
export interface SendingLedger {
  /** Counts POSTs that were repeated in this run of the batch, or since an operator last had some sent again in it; returns their number so far. */
  addRepeats(batchId: string, repeats: number): Promise<number>;
  /** Owned by this batch, `staged` or `sending`, ordinal in [from, to], in ordinal order; handing them out is written down. One found `sending`
   * comes with mayExist true unless each of its tries is written and proved not to have reached the service. `gapSince`: since then (epoch ms)
   * invoices may have been sent that the ledger does not know, so that each may exist; null or left out: it knows all. */
  sendable(batchId: string, from: number, to: number, gapSince?: number | null): Promise<readonly SendableInvoice[]>;
  /**
   * staged -> sending with frozen bytes, only where this batch owns it and the generation still holds. One that may
   * exist counts as frozen since then, and as one whose answer was lost. Returns the invoiceIds that moved.
   */
  freeze(batchId: string, items: readonly FreezeInvoice[], now: number): Promise<readonly number[]>;
  /**
   * sending -> staged, by the very attempt that froze these invoices, for those of which it POSTed nothing. What was
   * handed out again meanwhile stays as it is. Returns how many moved.
   */
  unfreeze(
    batchId: string,
    invoices: readonly { readonly invoiceId: number; readonly generation: number }[],
    put: { readonly reason: Reason; readonly now: number },
  ): Promise<number>;
  /**
   * Records answers; then, in a new snapshot, applies events that came before. A serviceId that another invoice has:
   * the invoice becomes `unknown`, reason `service-id-taken`. Returns invoices that are final now. With `patienceMs`, so
   * many milliseconds may pass until they are written, while few others are to be written with them; `isLast`: none are
   * to be expected, and they are written at once.
   */
  recordSends(
    items: readonly RecordSend[],
    company?: { readonly patienceMs?: number; readonly isLast?: boolean },
  ): Promise<readonly SettledInvoice[]>;
  /** It is `sending` with this generation at this moment, and no stored event calls an earlier document of it issued. */
  isBeingSent(invoiceId: number, generation: number): Promise<boolean>;
  /** The first of its unsent invoices (owned, `staged` or `sending`), at most `limit`; from the ordinal `from` on, and but for those of the merchant `butOf`. Ascending. */
  firstUnsent(
    batchId: string,
    which: { readonly limit: number; readonly from?: number; readonly butOf?: string | null },
  ): Promise<readonly UnsentInvoice[]>;
  /** What the service has said of the owned invoices of the batch with ordinal in [from, to], or of all. */
  countAnswers(batchId: string, count: CountAnswers): Promise<AnswerCounts>;
  /** At most so many of its invoices were refused, and failed or were reported to have: no other invoice is read. */
  mostFailures(batchId: string): Promise<Pick<AnswerCounts, 'refused' | 'failed'>>;
  /**
   * staged -> held (or sending -> held when nothing reached the service) for owned invoices of the batch; optionally of
   * one merchant only. `andHeld`: those that are held already get the reason, too, unless theirs says what else an
   * operator must do.
   */
  holdUnsent(
    batchId: string,
    hold: {
      readonly reason: Reason;
      /** Owned ones that were handed out, and of which no POST is known that may have created a document, become `unknown` with it; left out: they stay `sending`. */
      readonly unanswered?: Reason;
      readonly merchantNif?: string;
      readonly page?: number;
      readonly now: number;
      readonly fencingToken?: FencingToken;
      readonly andHeld?: boolean;
    },
  ): Promise<number>;
  /**
   * staged, held -> held, and sending, unknown -> unknown (held if nothing left), flagged `older-ledger`, for owned invoices of the batch that begin in
   * these rows, or that have not reached the generation that they had: only an operator who accepts the risk of a duplicate sends them. One of which an operator has accepted it after `acceptedAfter` (epoch
   * ms) stays as it is. Returns how many are held now that were not.
   */
  holdDoubtful(
    batch: { readonly batchId: string; readonly fencingToken: FencingToken },
    hold: {
      readonly firstRows: readonly number[];
      readonly sentAgain: readonly SentAgain[];
      readonly acceptedAfter: number;
      readonly reason: Reason;
      readonly now: number;
    },
  ): Promise<number>;
}
