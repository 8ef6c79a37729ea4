import type { InvoiceState } from '../invoice-state.ts';
import type { Reason } from '../invoice.ts';
import { OLDER_LEDGER, type RetryMove, type RetryRefusal } from '../retry-decision.ts';

/** The facts about an invoice that decisions need. Times are epoch milliseconds. */
export interface InvoiceLife {
  readonly state: InvoiceState;
  /** Meaning while `sending`: `none`: no POST is out. `open`: a POST may be out, and its answer will be recorded. `lost`: the service may have the invoice. */
  readonly exposure: 'none' | 'open' | 'lost';
  readonly generation: number;
  readonly fingerprint: string;
  readonly idempotencyKey: string;
  /** The only batch that may send the invoice. */
  readonly ownerBatch: string;
  readonly serviceId: string | null;
  /** Number of POSTs of this generation. */
  readonly attempts: number;
  /** Number of GETs since the invoice was accepted. */
  readonly asks: number;
  readonly firstSentAt: number | null;
  readonly acceptedAt: number | null;
  readonly settledAt: number | null;
  readonly changedAt: number;
  readonly reason: Reason | null;
  readonly flags: readonly string[];
}

/** The content of the stored events of one document, in the order in which they were stored. */
export interface EventsSaid {
  /** When the first `issued` event came, or null if none has come. */
  readonly issuedAt: number | null;
  /** A `failed` event was stored before the first `issued` event, or no `issued` event is stored. */
  readonly failedFirst: boolean;
  /** A `failed` event was stored after the first `issued` event. */
  readonly failedLater: boolean;
  /** The reason in the newest `failed` event. */
  readonly failure: Reason | null;
}

/** A generation beside the present one: an earlier one in its final state or, below zero, a second document of a key. */
export interface KeptGeneration extends Pick<
  InvoiceLife,
  | 'generation'
  | 'fingerprint'
  | 'idempotencyKey'
  | 'state'
  | 'serviceId'
  | 'attempts'
  | 'firstSentAt'
  | 'settledAt'
  | 'reason'
  | 'flags'
> {
  readonly said: EventsSaid;
}

/** The facts that `decide` reads in addition to the invoice. */
export interface Surroundings {
  /** When the bytes of the present generation were frozen, before any POST of it; null if it has no bytes. */
  readonly frozenAt: number | null;
  /** The batch that owns the invoice sends nothing any more. */
  readonly ownerIsClosed: boolean;
  /** Sorted by generation number. */
  readonly kept: readonly KeptGeneration[];
  /** The events of the present document. */
  readonly said: EventsSaid;
}

/**
 * Additional writes of the ledger. `keep-outcomes`: lines of batches keep the outcome of the replaced content.
 * `next-content`, `next-body`: copy the content or the bytes of this generation to the next one. `accept-risk`: an
 * operator accepts that the bytes are sent again, however old they are. `go-back`: delete later generations; lines that
 * held the content of this generation show the live state again.
 */
export type Effect = 'keep-outcomes' | 'next-content' | 'next-body' | 'accept-risk' | 'go-back';

/** The effect of a batch's line on an invoice that the ledger knows. */
export type Attachment =
  /** The same invoice: its live state is the outcome in this batch. */
  | 'attach'
  | 'already-issued'
  /** The same invoice, unsent, and its owner sends nothing: this batch becomes its owner. */
  | 'take-over'
  /** Other content, and the service has no document because it refused or was never asked: this batch owns the next generation. */
  | 'correct'
  /** Other content, and the service may have a document of the old content: an operator must accept the risk. */
  | 'needs-risk'
  | 'conflict';

/** The result of a command: the changed invoice and additional changes. */
export interface Decided {
  readonly invoice: InvoiceLife;
  readonly effects?: readonly Effect[];
  /** Kept generations that are new or have changed. Lines that held the content of an issued generation show it as issued. */
  readonly kept?: readonly KeptGeneration[];
  /** Only the result of `retry` has this. */
  readonly move?: RetryMove;
  /** Only the result of `stage` has this. */
  readonly attachment?: Attachment;
}

/** Why a command changes nothing. `not-now`: the command does not apply to the state of the invoice. */
export interface Refused {
  readonly refusal: 'not-now' | RetryRefusal;
  /** Only the result of `stage` has this. */
  readonly attachment?: Attachment;
}

/** The command does not apply to the state of the invoice. */
export const NOT_NOW: Refused = { refusal: 'not-now' };

/** The value for a document without stored events. */
export const NOTHING_SAID: EventsSaid = { issuedAt: null, failedFirst: false, failedLater: false, failure: null };

/** Reason of an invoice whose earlier document the service accepted after Lote had given up its key. */
export const ACCEPTED_EARLIER = 'accepted-in-earlier-generation';

/** Flag of an invoice whose earlier document is issued. */
export const ISSUED_EARLIER = 'issued-in-earlier-generation';

/** True after a definitive failure: the invoice needs another generation, and this one has no valid document. */
export function hasEnded(state: InvoiceState): boolean {
  return state === 'failed' || state === 'rejected';
}

/** True if no POST of this generation can have reached the service. */
export function isUnsent({ state, exposure }: InvoiceLife): boolean {
  return state === 'staged' || (state === 'sending' && exposure === 'none');
}

/** True if the next POST repeats the key of an earlier generation. Such a POST cannot create a second document. */
export function hasEarlierKey({ generation, idempotencyKey, kept }: InvoiceLife & Surroundings): boolean {
  return kept.some((one) => one.generation > 0 && one.generation < generation && one.idempotencyKey === idempotencyKey);
}

/** False if only a person may send the invoice: an earlier document exists, or the ledger may have missed a POST of it. */
export function goesByItself({ flags, reason }: InvoiceLife): boolean {
  return !flags.includes(ISSUED_EARLIER) && !flags.includes(OLDER_LEDGER) && reason?.code !== ACCEPTED_EARLIER;
}

/** Adds a flag unless it is there already. */
export function flagged(flags: readonly string[], flag: string): readonly string[] {
  return flags.includes(flag) ? flags : [...flags, flag];
}

const CORRECTED: Reason = {
  code: 'corrected-before-sending',
  message: 'Not sent: a later file brought other content for this invoice',
};

/** Returns the present generation in its final state; a staged one becomes `held`, because this content is never sent. */
export function keptAsItEnded(invoice: InvoiceLife & Pick<Surroundings, 'said'>): KeptGeneration {
  const { generation, fingerprint, idempotencyKey, serviceId, attempts, firstSentAt, settledAt, flags, said } = invoice;
  const rests: Pick<KeptGeneration, 'state' | 'reason'> =
    invoice.state === 'staged' ? { state: 'held', reason: CORRECTED } : invoice;
  return {
    ...{ generation, fingerprint, idempotencyKey, serviceId, attempts, firstSentAt, settledAt, flags, said },
    ...{ state: rests.state, reason: rests.reason },
  };
}
