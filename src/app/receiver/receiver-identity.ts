import { createHash } from 'node:crypto';

/** Enough digits to tell receivers apart, and too few to reveal the ledger's id. */
const DIGITS = 16;

/** The id that a receiver answers to a GET, so that `lote doctor` recognises it. Receivers of one ledger and application share the id. */
export function receiverIdentity(ledgerId: string, application: string): string {
  return createHash('sha256')
    .update(JSON.stringify(['receiver', ledgerId, application]))
    .digest('hex')
    .slice(0, DIGITS);
}
