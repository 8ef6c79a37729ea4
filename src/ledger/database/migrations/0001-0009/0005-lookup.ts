/**
 * What people search by. Both columns are written once, at staging; the range index costs next to nothing per delivery and
 * finds the last hours of a table of millions.
 */
export const LOOKUP_INDEXES: readonly string[] = [
  `CREATE INDEX batch_invoice_ref ON batch_invoice (invoice_ref)`,
  `CREATE INDEX batch_invoice_nif ON batch_invoice (merchant_nif)`,
  `CREATE INDEX delivery_received ON delivery USING brin (received_at)`,
];
