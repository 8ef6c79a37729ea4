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

/** What becomes of an invoice that the ledger knows when another file brings it, or when its own file is read anew. */
type Invoice = InvoiceLife & Surroundings;

/** What a file brings for an invoice that the ledger knows. */
export interface Brought {
  readonly batchId: string;
  readonly fingerprint: string;
  /** A line of this batch holds the invoice already: its portion is staged once more. */
  readonly isStaged: boolean;
  /** The invoice is this batch's, whose staging starts again, and an open batch waits for the content that it had. */
  readonly isAwaited: boolean;
  /** A refusal is no proof, and no operator has accepted the risk of a duplicate. */
  readonly keepsRejected: boolean;
  /** An operator has accepted the risk of a duplicate. */
  readonly riskAccepted: boolean;
  /** For how long the service remembers a key. */
  readonly retentionMs: number;
  /** A key of it was used since the copy from which the ledger was restored; the ledger does not know what came of it. */
  readonly wasLost: boolean;
  /** The key under which this very content was sent last since that copy, which is repeated; null: it was not. */
  readonly continuedKey: string | null;
  readonly keyOf: (generation: number) => string;
  readonly now: number;
}

/** The ownership rule of docs/architecture.md for one identity that was there before. */
export function attachmentOf(invoice: Invoice, brought: Brought): Attachment {
  const { state, ownerBatch, ownerIsClosed, flags, kept } = invoice;
  const isOwn = ownerBatch === brought.batchId;
  const ownerIsIdle = ownerIsClosed || (isOwn && !brought.isStaged);
  const hasOther = kept.some((one) => one.generation < 0);
  // Another document of it is or may be alive: an operator decides.
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

/** Whether the present key is asked once more before the corrected content is sent: of what was refused or failed, or was still to be asked. */
function asksEarlierKey(invoice: Invoice, brought: Brought): boolean {
  return brought.continuedKey === null && wasSent(invoice) && isRemembered(invoice, brought);
}

/** Its present key was used, with bytes that a correction replaces. */
function wasSent(invoice: Invoice): boolean {
  return hasEarlierKey(invoice) || hasEnded(invoice.state);
}

/** Whether the service still knows the present key of an invoice. */
export function isRemembered({ frozenAt }: Invoice, limits: Pick<Brought, 'now' | 'retentionMs'>): boolean {
  return insideRetention(frozenAt, limits);
}

interface OfBatch {
  readonly batchId: string;
}

/** `heir` waits for it. `reason` null: it sends it; else it is held, unless the heir is its batch. */
export interface PassOn extends OfBatch {
  readonly heir: string;
  readonly reason: Reason | null;
}

/** `generation`: the newest that lines of other batches hold. `heir`: one of these batches. */
export interface Restoration extends OfBatch {
  readonly generation: number;
  readonly heir: string;
}

/** Nothing of a generation has left. Flags stay, because what was found about the invoice is true of it for ever. */
export const NEW_GENERATION = {
  ...{ state: 'staged', exposure: 'none', serviceId: null, asks: 0 },
  ...{ firstSentAt: null, acceptedAt: null, settledAt: null, reason: null },
} as const satisfies Partial<InvoiceLife>;

/** A file brings an invoice that the ledger knows. What was found about content that it replaces stays with that. */
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

/** Its batch gives up a staging. An heir past its staging may have sent the page already: there it is held, and tells a person. */
export function passOn(invoice: InvoiceLife, { batchId, heir, reason }: PassOn): Decided | Refused {
  if (invoice.ownerBatch !== batchId || invoice.state !== 'staged') return NOT_NOW;
  const isHeld = reason !== null && heir !== batchId;
  return { invoice: { ...invoice, ownerBatch: heir, state: isHeld ? 'held' : 'staged', reason } };
}

/**
 * Undoes a correction that was not sent, or that is held because the service issued what it replaces meanwhile. What the
 * service said of an earlier document stays said.
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
