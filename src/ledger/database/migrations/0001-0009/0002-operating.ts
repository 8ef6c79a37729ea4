/** What operators did, what the last report of a batch said, and since when the bytes of a generation may be on the wire. */
export const OPERATING_TABLES: readonly string[] = [
  // No POST of a generation leaves before its bytes are frozen: here the retention window starts, also when a crash forgot the POST.
  // Bytes from before this column count as frozen long ago: nothing of them is ever repeated by Lote alone.
  `ALTER TABLE invoice_body ADD COLUMN frozen_at bigint NOT NULL DEFAULT 0`,
  `CREATE TABLE audit (
     action_id text PRIMARY KEY,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     batch_id text NOT NULL,
     at bigint NOT NULL,
     who text,
     what text NOT NULL,
     why text NOT NULL,
     accepted_duplicate_risk boolean NOT NULL
   )`,
  `CREATE INDEX audit_batch ON audit (batch_id, seq)`,
  `CREATE TABLE audit_invoice (
     action_id text NOT NULL,
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     ordinal integer NOT NULL,
     move text NOT NULL,
     from_state text NOT NULL,
     PRIMARY KEY (action_id, invoice_id, generation)
   )`,
  // Only what may still change: a report of invoices that are all issued leaves nothing here.
  `CREATE TABLE report_outcome (
     batch_id text NOT NULL,
     ordinal integer NOT NULL,
     state text NOT NULL,
     generation integer NOT NULL,
     PRIMARY KEY (batch_id, ordinal)
   )`,
  `CREATE TABLE report_mark (
     batch_id text PRIMARY KEY,
     revision integer NOT NULL,
     written_at bigint NOT NULL,
     flags bigint NOT NULL
   )`,
  // Contradictions are rare; the predicate changes only when one is found, so ordinary updates stay in their page (HOT).
  `CREATE INDEX invoice_flagged ON invoice (invoice_id) WHERE flags <> '{}'`,
];
