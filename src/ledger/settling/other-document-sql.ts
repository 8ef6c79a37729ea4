import { OLDER_LEDGER } from '../../domain/retry-decision.ts';

/** Reason of an invoice of which the service accepted a document after its key had been given up. */
export const ACCEPTED_EARLIER = 'accepted-in-earlier-generation';

/** That an earlier document of invoice `i` was issued or accepted after its key had been given up: it never goes by itself. */
export const HAS_EARLIER_DOCUMENT = `(i.flags @> '{issued-in-earlier-generation}' OR coalesce(i.reason_code, '') = '${ACCEPTED_EARLIER}')`;

/** That invoice `i` may have been sent, or sent again, while the ledger did not hear of it: an operator decides. */
export const IS_DOUBTFUL = `(i.flags @> '{${OLDER_LEDGER}}')`;

/** The flags of invoice `i` once that doubt has ended: an operator has decided, or it is issued, and nothing of it is sent any more. */
export const FLAGS_WITHOUT_OLDER_LEDGER = `array_remove(i.flags, '${OLDER_LEDGER}')`;

/**
 * That the key of an invoice brought another document, and nobody knows that this one has failed (an SQL condition on the invoice's id and flags). A
 * statement that has waited for the invoice's lock sees the flag, and not yet the document that was written with it: such a one counts as alive.
 */
export function isOtherAlive(invoice: string): string {
  const ofInvoice = `g.invoice_id = ${invoice}.invoice_id AND g.generation < 0`;
  return `(EXISTS (SELECT FROM invoice_generation g WHERE ${ofInvoice} AND g.state = 'accepted' OFFSET 0)
    OR (${invoice}.flags @> '{second-service-id}' AND NOT EXISTS (SELECT FROM invoice_generation g WHERE ${ofInvoice} OFFSET 0)))`;
}
