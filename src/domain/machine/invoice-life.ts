import type { InvoiceState } from '../invoice-state.ts';
import type { Reason } from '../invoice.ts';
import { OLDER_LEDGER, type RetryMove, type RetryRefusal } from '../retry-decision.ts';

/** An invoice, as all that is decided about it needs it. Times are epoch milliseconds. */
export interface InvoiceLife {
  readonly state: InvoiceState;
  /** Of `sending`: `none`: no POST is out; `open`: one may be, and its attempt will say; `lost`: the service may have it. */
  readonly exposure: 'none' | 'open' | 'lost';
  readonly generation: number;
  readonly fingerprint: string;
  readonly idempotencyKey: string;
  /** Only this batch sends it. */
  readonly ownerBatch: string;
  readonly serviceId: string | null;
  /** POSTs of this generation. */
  readonly attempts: number;
  /** GETs since it was accepted. */
  readonly asks: number;
  readonly firstSentAt: number | null;
  readonly acceptedAt: number | null;
  readonly settledAt: number | null;
  readonly changedAt: number;
  readonly reason: Reason | null;
  readonly flags: readonly string[];
}

/** What the stored events of one document say, in the order in which they were stored. */
export interface EventsSaid {
  /** When the first `issued` event came; null: none has. */
  readonly issuedAt: number | null;
  /** A `failed` event stands before the first `issued` one, or there is no `issued` one. */
  readonly failedFirst: boolean;
  /** A `failed` event stands behind the first `issued` one. */
  readonly failedLater: boolean;
  /** What the newest `failed` event says. */
  readonly failure: Reason | null;
}

/** A generation beside the present one: how an earlier one ended, or, below zero, another document of a key of the invoice. */
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

/** What `decide` reads beside the invoice. */
export interface Surroundings {
  /** When the bytes of its generation were frozen: no POST of it left before. Null: it has none. */
  readonly frozenAt: number | null;
  /** Its batch sends nothing any more. */
  readonly ownerIsClosed: boolean;
  /** In the order of their numbers. */
  readonly kept: readonly KeptGeneration[];
  /** Of its present document. */
  readonly said: EventsSaid;
}

/**
 * What the ledger writes beside the invoice. `keep-outcomes`: lines of batches keep the outcome of the content that they
 * held. `next-content`, `next-body`: content and bytes of this generation once more for the next one. `accept-risk`: an
 * operator accepts that the bytes go again, whenever they were first sent. `go-back`: later generations are forgotten, and lines that
 * held the content of this one show the invoice live again.
 */
export type Effect = 'keep-outcomes' | 'next-content' | 'next-body' | 'accept-risk' | 'go-back';

/** What becomes of a line of a batch whose invoice the ledger knows. */
export type Attachment =
  /** The same invoice: its live state is this batch's outcome. */
  | 'attach'
  | 'already-issued'
  /** The same invoice, not sent, and its owner sends nothing: this batch owns it now. */
  | 'take-over'
  /** Other content, and the service definitively has none, for it refused or was never asked: the next generation is this batch's. */
  | 'correct'
  /** The same, but the service may have a document of the other content: an operator must accept the risk. */
  | 'needs-risk'
  | 'conflict';

/** What becomes of an invoice. */
export interface Decided {
  readonly invoice: InvoiceLife;
  readonly effects?: readonly Effect[];
  /** Generations beside the present one that are new or have changed. Lines that held the content of an issued one say so. */
  readonly kept?: readonly KeptGeneration[];
  /** Of `retry`. */
  readonly move?: RetryMove;
  /** Of `stage`. */
  readonly attachment?: Attachment;
}

/** Why nothing becomes of it: `not-now`: the command is none for an invoice in this state. */
export interface Refused {
  readonly refusal: 'not-now' | RetryRefusal;
  /** Of `stage`. */
  readonly attachment?: Attachment;
}

/** The command is none for an invoice in this state. */
export const NOT_NOW: Refused = { refusal: 'not-now' };

/** No event is stored. */
export const NOTHING_SAID: EventsSaid = { issuedAt: null, failedFirst: false, failedLater: false, failure: null };

/** Reason of an invoice of which the service accepted a document after its key had been given up. */
export const ACCEPTED_EARLIER = 'accepted-in-earlier-generation';

/** Flag of an invoice of which an earlier document is issued. */
export const ISSUED_EARLIER = 'issued-in-earlier-generation';

/** It ended with a definitive no: it needs another generation, and the service has no living document of this one. */
export function hasEnded(state: InvoiceState): boolean {
  return state === 'failed' || state === 'rejected';
}

/** Nothing of it can have reached the service. */
export function isUnsent({ state, exposure }: InvoiceLife): boolean {
  return state === 'staged' || (state === 'sending' && exposure === 'none');
}

/** Its key is that of an earlier generation, which is asked once more: a POST of it cannot make a second document. */
export function hasEarlierKey({ generation, idempotencyKey, kept }: InvoiceLife & Surroundings): boolean {
  return kept.some((one) => one.generation > 0 && one.generation < generation && one.idempotencyKey === idempotencyKey);
}

/** An earlier document of it exists, or it may have been sent while the ledger did not hear of it: a person decides. */
export function goesByItself({ flags, reason }: InvoiceLife): boolean {
  return !flags.includes(ISSUED_EARLIER) && !flags.includes(OLDER_LEDGER) && reason?.code !== ACCEPTED_EARLIER;
}

/** The flags with one more. */
export function flagged(flags: readonly string[], flag: string): readonly string[] {
  return flags.includes(flag) ? flags : [...flags, flag];
}

const CORRECTED: Reason = {
  code: 'corrected-before-sending',
  message: 'Not sent: a later file brought other content for this invoice',
};

/** Its present generation as it ended. One that was never sent, and now never will be with this content, is at rest: `held`, and says why. */
export function keptAsItEnded(invoice: InvoiceLife & Pick<Surroundings, 'said'>): KeptGeneration {
  const { generation, fingerprint, idempotencyKey, serviceId, attempts, firstSentAt, settledAt, flags, said } = invoice;
  const rests: Pick<KeptGeneration, 'state' | 'reason'> =
    invoice.state === 'staged' ? { state: 'held', reason: CORRECTED } : invoice;
  return {
    ...{ generation, fingerprint, idempotencyKey, serviceId, attempts, firstSentAt, settledAt, flags, said },
    ...{ state: rests.state, reason: rests.reason },
  };
}
