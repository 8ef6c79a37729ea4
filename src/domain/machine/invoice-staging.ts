import type { Reason } from '../invoice.ts';
import { insideRetention, OLDER_LEDGER } from '../retry-decision.ts';
import { risen } from './invoice-answers.ts';
import {
  type Attachment,
  type Decided,
  flagged,
  hasEarlierKey,
  hasEnded,
  type InvoiceLife,
  ISSUED_EARLIER,
  keptAsItEnded,
  NOT_NOW,
  type Refused,
  type Surroundings,
} from './invoice-life.ts';

/** Decides about an invoice that the ledger knows when another file contains it, or when its own file is read again. */
type Invoice = InvoiceLife & Surroundings;

/** The line of a file for an invoice that the ledger knows. */
export interface Brought {
  readonly batchId: string;
  readonly fingerprint: string;
  /** True if a line of this batch holds the invoice already, because its portion is staged again. */
  readonly isStaged: boolean;
  /** True if this batch owns the invoice and stages again, and an open batch waits for the earlier content. */
  readonly isAwaited: boolean;
  /** True if a document may exist in spite of a refusal, and no operator has accepted the risk of a duplicate. */
  readonly keepsRejected: boolean;
  /** An operator has accepted the risk of a duplicate. */
  readonly riskAccepted: boolean;
  /** How long the service remembers a key, in milliseconds. */
  readonly retentionMs: number;
  /** True if a key was used after the backup of a restored ledger, which does not know the result. */
  readonly wasLost: boolean;
  /** The key with which this content was last sent after that backup, and which Lote repeats; null if the content was not sent. */
  readonly continuedKey: string | null;
  readonly keyOf: (generation: number) => string;
  readonly now: number;
}

/** Applies the ownership rule of docs/architecture.md to an identity that the ledger knows. */
export function attachmentOf(invoice: Invoice, brought: Brought): Attachment {
  const { state, ownerBatch, ownerIsClosed, flags, kept } = invoice;
  const isOwn = ownerBatch === brought.batchId;
  const ownerIsIdle = ownerIsClosed || (isOwn && !brought.isStaged);
  const hasOther = kept.some((one) => one.generation < 0);
  // Another document of the invoice may be valid, so an operator must decide.
  const isBlocked =
    flags.includes(ISSUED_EARLIER) ||
    (hasOther
      ? kept.some((one) => one.generation < 0 && one.state === 'accepted')
      : flags.includes('second-service-id'));
  const isDoubtful = flags.includes(OLDER_LEDGER);
  const isFree = !isBlocked && ownerIsIdle && (state === 'staged' || state === 'held');
  if (brought.fingerprint === invoice.fingerprint) {
    if (state === 'issued') return 'already-issued';
    return isFree && !isDoubtful ? 'take-over' : 'attach';
  }
  const isCorrectable = !isBlocked && ((isFree && !(isOwn && brought.isAwaited)) || hasEnded(state));
  if (!isCorrectable) return 'conflict';
  if (brought.continuedKey !== null) return 'correct';
  const windowIsOver = wasSent(invoice) && !isRemembered(invoice, brought);
  const mayExist = isDoubtful || brought.wasLost || windowIsOver;
  if (mayExist && !brought.riskAccepted) return 'needs-risk';
  return state === 'rejected' && brought.keepsRejected ? 'needs-risk' : 'correct';
}

/** True if the present key was used, and Lote repeats it once before it sends the corrected content. */
function asksEarlierKey(invoice: Invoice, brought: Brought): boolean {
  return brought.continuedKey === null && wasSent(invoice) && isRemembered(invoice, brought);
}

/** True if the present key was used with bytes that a correction replaces. */
function wasSent(invoice: Invoice): boolean {
  return hasEarlierKey(invoice) || hasEnded(invoice.state);
}

/** True if the service still remembers the present key of the invoice. */
export function isRemembered({ frozenAt }: Invoice, limits: Pick<Brought, 'now' | 'retentionMs'>): boolean {
  return insideRetention(frozenAt, limits);
}

interface OfBatch {
  readonly batchId: string;
}

/** `heir`: a batch that waits for the invoice and gets it. The invoice is staged there if `reason` is null or `heir` is the same batch, otherwise held. */
export interface PassOn extends OfBatch {
  readonly heir: string;
  readonly reason: Reason | null;
}

/** `generation`: the newest generation that lines of other batches hold. `heir`: one of these batches. */
export interface Restoration extends OfBatch {
  readonly generation: number;
  readonly heir: string;
}

/** The initial values of a generation. Flags stay, because they describe facts about the invoice that never change. */
export const NEW_GENERATION = {
  ...{ state: 'staged', exposure: 'none', serviceId: null, asks: 0 },
  ...{ firstSentAt: null, acceptedAt: null, settledAt: null, reason: null },
} as const satisfies Partial<InvoiceLife>;

/** Stages an invoice that the ledger knows. Flags of replaced content stay with that content. */
export function stage(invoice: Invoice, brought: Brought): Decided | Refused {
  const { batchId, fingerprint, continuedKey, keyOf, now } = brought;
  const attachment = attachmentOf(invoice, brought);
  const owned = { ownerBatch: batchId, state: 'staged', reason: null, changedAt: now } as const;
  if (attachment === 'take-over') return { attachment, invoice: { ...invoice, ...owned } };
  if (attachment !== 'correct') return { ...NOT_NOW, attachment };
  const generation = invoice.generation + 1;
  const isAsked = asksEarlierKey(invoice, brought);
  const idempotencyKey = isAsked ? invoice.idempotencyKey : (continuedKey ?? keyOf(generation));
  return {
    attachment,
    kept: [keptAsItEnded(invoice)],
    effects: [...(isAsked ? (['next-body'] as const) : []), 'keep-outcomes'],
    invoice: { ...invoice, ...NEW_GENERATION, ...owned, generation, fingerprint, idempotencyKey, flags: [] },
  };
}

/** Gives up a staging. An heir that has ended its own staging may have sent the page already, so it holds the invoice and tells a person. */
export function passOn(invoice: InvoiceLife, { batchId, heir, reason }: PassOn): Decided | Refused {
  if (invoice.ownerBatch !== batchId || invoice.state !== 'staged') return NOT_NOW;
  const isHeld = reason !== null && heir !== batchId;
  return { invoice: { ...invoice, ownerBatch: heir, state: isHeld ? 'held' : 'staged', reason } };
}

/**
 * Undoes a correction that was not sent, or that is held because the service has issued the replaced document since.
 * Words of the service about earlier documents stay.
 */
export function restore(invoice: Invoice, { batchId, generation, heir }: Restoration): Decided | Refused {
  const hasIssuedEarlier = invoice.flags.includes(ISSUED_EARLIER);
  const doubt = invoice.flags.filter((flag) => flag === OLDER_LEDGER);
  const isWithdrawn = invoice.state === 'staged' || (invoice.state === 'held' && hasIssuedEarlier);
  const ended = invoice.kept.find((one) => one.generation === generation);
  const wasSentSince = invoice.kept.some((one) => one.generation > generation && one.firstSentAt !== null);
  const isRestored = generation >= invoice.generation;
  if (invoice.ownerBatch !== batchId || !isWithdrawn || isRestored || wasSentSince || ended === undefined)
    return NOT_NOW;
  const { fingerprint, idempotencyKey, state, serviceId, firstSentAt, settledAt, reason, flags } = ended;
  const before = { ...invoice, kept: invoice.kept.filter((one) => one.generation < generation), said: ended.said };
  const restored = risen(before, {
    invoice: {
      ...invoice,
      ...{ generation, fingerprint, idempotencyKey, state, serviceId, firstSentAt, settledAt, reason },
      ownerBatch: heir,
      flags: (hasIssuedEarlier && state !== 'issued' ? [ISSUED_EARLIER, ...doubt] : doubt).reduce(flagged, flags),
    },
  });
  return { ...restored, effects: ['go-back'] };
}
