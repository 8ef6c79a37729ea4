/** When an operator took the risk of sending these bytes once more after the retention window: from then on the window counts anew. */
export const ACCEPTED_RISK: readonly string[] = ['ALTER TABLE invoice_body ADD COLUMN risk_accepted_at bigint'];
