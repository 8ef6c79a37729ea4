/** What is known of POSTs that were sent again. */
export const SECOND_TRIES: readonly string[] = [
  // When an operator took the risk of sending these bytes once more after the retention window: for that retry it counts anew.
  'ALTER TABLE invoice_body ADD COLUMN risk_accepted_at bigint',
  // Of the batch's run: what its retry budget has been spent on.
  'ALTER TABLE batch ADD COLUMN repeats bigint NOT NULL DEFAULT 0',
];
