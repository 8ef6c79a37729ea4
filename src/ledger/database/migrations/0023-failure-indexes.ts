/**
 * What counting failures reads instead of a whole batch. An ordinary invoice has no reason in all its life, so that its
 * updates stay in their page (HOT), and an ordinary event is no failure: both indexes cost it nothing.
 */
export const FAILURE_INDEXES: readonly string[] = [
  'CREATE INDEX invoice_with_reason ON invoice (owner_batch) WHERE reason_code IS NOT NULL',
  `CREATE INDEX delivery_failed ON delivery (received_at) WHERE verdict = 'failed'`,
];
