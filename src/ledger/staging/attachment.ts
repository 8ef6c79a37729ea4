import type { InvoiceState } from '../../domain/invoice-state.ts';
import { canMove } from '../../domain/invoice-state.ts';

/** What a batch finds of an invoice that the ledger knows. */
export interface KnownIdentity {
  readonly sameFingerprint: boolean;
  readonly state: InvoiceState;
  /** The owner sends nothing: it is finished, cancelled or refused, or it is this very batch, whose staging starts again. */
  readonly ownerIdle: boolean;
  /** Its owner is this very batch, whose staging starts again, and an open batch waits for the content that it had. */
  readonly awaited: boolean;
  /** Another document of it is or may be alive: an operator decides. */
  readonly blocked: boolean;
  /** A refusal is no proof, and no operator has accepted the risk of a duplicate. */
  readonly keepsRejected: boolean;
  /** It may have been sent, or sent again, since the copy from which the ledger was restored, and the service may have forgotten the key. */
  readonly isDoubtful: boolean;
  /** The same while the gap is open: its own key may still be repeated. */
  readonly inSendingGap: boolean;
  /** An operator has accepted the risk of a duplicate. */
  readonly riskAccepted: boolean;
}

/** What becomes of an invoice of a batch whose identity the ledger already knows. */
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

/** The ownership rule of docs/ledger.md for one identity that was there before. */
export function decideAttachment(known: KnownIdentity): Attachment {
  const { sameFingerprint, state, ownerIdle, awaited, blocked, keepsRejected } = known;
  const free = !blocked && ownerIdle && canMove('replace', state);
  if (sameFingerprint && state === 'issued') return 'already-issued';
  if (sameFingerprint) return free && !known.isDoubtful ? 'take-over' : 'attach';
  const isCorrectable = !blocked && ((free && !awaited) || canMove('regenerate', state));
  if (!isCorrectable) return 'conflict';
  const mayExist = known.isDoubtful || known.inSendingGap;
  if (mayExist && !known.riskAccepted) return 'needs-risk';
  return state === 'rejected' && keepsRejected ? 'needs-risk' : 'correct';
}
