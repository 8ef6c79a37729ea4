/**
 * That the key of an invoice brought another document, and nobody knows that this one has failed (an SQL condition on the invoice's id and flags). A
 * statement that has waited for the invoice's lock sees the flag, and not yet the document that was written with it: such a one counts as alive.
 */
export function isOtherAlive(invoice: string): string {
  const ofInvoice = `g.invoice_id = ${invoice}.invoice_id AND g.generation < 0`;
  return `(EXISTS (SELECT FROM invoice_generation g WHERE ${ofInvoice} AND g.state = 'accepted' OFFSET 0)
    OR (${invoice}.flags @> '{second-service-id}' AND NOT EXISTS (SELECT FROM invoice_generation g WHERE ${ofInvoice} OFFSET 0)))`;
}
