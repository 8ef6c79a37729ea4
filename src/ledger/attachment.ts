import type { InvoiceState } from '../domain/invoice-state.ts';
import { canMove } from '../domain/invoice-state.ts';

/** What a batch finds of an invoice that the ledger knows. */
export interface KnownIdentity {
  readonly sameFingerprint: boolean;
  readonly state: InvoiceState;
  /** The owner is finished, cancelled or refused: it sends nothing any more. */
  readonly ownerClosed: boolean;
  /** An earlier content of it turned out to be issued: an operator decides. */
  readonly blocked: boolean;
}

export type Attachment =
  /** The same invoice: its live state is this batch's outcome. */
  | 'attach'
  | 'already-issued'
  /** The same invoice, not sent, and its owner is closed: this batch owns it now. */
  | 'take-over'
  /** Other content, and the service definitively has none: the next generation is this batch's. */
  | 'correct'
  | 'conflict';

/** The ownership rule of docs/ledger.md for one identity that was there before. */
export function decideAttachment(known: KnownIdentity): Attachment {
  if (!known.sameFingerprint) return canMove('regenerate', known.state) && !known.blocked ? 'correct' : 'conflict';
  if (known.state === 'issued') return 'already-issued';
  const unsent = known.state === 'staged' || known.state === 'held';
  return unsent && known.ownerClosed && !known.blocked ? 'take-over' : 'attach';
}
