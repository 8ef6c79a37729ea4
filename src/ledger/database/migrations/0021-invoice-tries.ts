/**
 * POSTs that brought no final word. An ordinary invoice has none: its one POST stands in `invoice`, and this table costs
 * nothing until the service or the network is in trouble.
 */
export const INVOICE_TRIES: readonly string[] = [
  `CREATE TABLE invoice_try (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     sent_at bigint NOT NULL,
     answered_at bigint NOT NULL,
     reason_code text NOT NULL,
     reason_message text NOT NULL,
     PRIMARY KEY (invoice_id, generation, sent_at)
   )`,
];
