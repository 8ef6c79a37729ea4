import { createHash } from 'node:crypto';

/** Digits enough to tell receivers apart; they reveal nothing of the ledger. */
const DIGITS = 16;

/** What a receiver says of itself to a GET, so that `lote doctor` knows it: the same for all receivers of one ledger and application. */
export function receiverIdentity(ledgerId: string, application: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['receiver', ledgerId, application]))
    .digest('hex')
    .slice(0, DIGITS);
}
