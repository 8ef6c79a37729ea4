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
  /** What the ledger has as unsent may have been sent: the ledger is older than what was sent with it. */
  readonly inSendingGap: boolean;
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
  /** The same, but the service may have a document of what it refused: an operator must accept the risk. */
  | 'needs-risk'
  | 'conflict';

/** The ownership rule of docs/ledger.md for one identity that was there before. */
export function decideAttachment(known: KnownIdentity): Attachment {
  const { sameFingerprint, state, ownerIdle, awaited, blocked, keepsRejected, inSendingGap } = known;
  const free = !blocked && ownerIdle && canMove('replace', state);
  if (sameFingerprint && state === 'issued') return 'already-issued';
  if (sameFingerprint) return free ? 'take-over' : 'attach';
  if (free && !awaited && !inSendingGap) return 'correct';
  if (blocked || !canMove('regenerate', state)) return 'conflict';
  return state === 'rejected' && keepsRejected ? 'needs-risk' : 'correct';
}
