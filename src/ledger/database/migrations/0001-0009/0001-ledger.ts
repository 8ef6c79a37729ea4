/**
 * The first schema. Hot tables (invoice, batch_invoice, delivery) have no foreign keys: a key check costs as much as
 * the insert itself, and every writer goes through this folder. `invoice` holds no long text and no index on its state,
 * and leaves room in its pages, so that most updates stay in their page (HOT) and write little.
 */
export const LEDGER_TABLES: readonly string[] = [
  `CREATE TABLE ledger_meta (
     only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
     ledger_id text NOT NULL
   )`,
  `INSERT INTO ledger_meta (ledger_id) VALUES ('lgr_' || replace(gen_random_uuid()::text, '-', ''))`,
  `CREATE TABLE batch (
     batch_id text PRIMARY KEY,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     application text NOT NULL,
     file text NOT NULL,
     sha256 text NOT NULL,
     state text NOT NULL CHECK (state IN ('staging', 'refused', 'running', 'paused', 'cancelled', 'finished')),
     workflow_id text NOT NULL,
     run_id text NOT NULL,
     page_size integer NOT NULL DEFAULT 0,
     pages integer NOT NULL DEFAULT 0,
     row_count integer NOT NULL DEFAULT 0,
     rows_without_invoice integer NOT NULL DEFAULT 0,
     invoices integer NOT NULL DEFAULT 0,
     started_at bigint NOT NULL,
     finished_at bigint,
     revision integer NOT NULL DEFAULT 0,
     proof text NOT NULL DEFAULT '{}',
     UNIQUE (application, sha256)
   )`,
  `CREATE TABLE batch_row (
     batch_id text NOT NULL,
     file_row integer NOT NULL,
     identity text NOT NULL,
     raw_row text NOT NULL,
     PRIMARY KEY (batch_id, file_row)
   )`,
  // Made from batch_row in one pass when a whole file is read: rows by the first row of their identity.
  `CREATE TABLE batch_row_order (
     batch_id text NOT NULL,
     first_row integer NOT NULL,
     file_row integer NOT NULL,
     PRIMARY KEY (batch_id, first_row, file_row)
   )`,
  `CREATE TABLE finding (
     batch_id text NOT NULL,
     seq integer NOT NULL,
     finding text NOT NULL,
     PRIMARY KEY (batch_id, seq)
   )`,
  `CREATE TABLE invoice (
     invoice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     identity text NOT NULL CONSTRAINT invoice_identity UNIQUE,
     application text NOT NULL,
     merchant_nif text NOT NULL,
     invoice_ref text NOT NULL,
     fingerprint text NOT NULL,
     owner_batch text NOT NULL,
     state text NOT NULL CHECK (state IN
       ('staged', 'sending', 'accepted', 'issued', 'failed', 'rejected', 'unknown', 'unsettled', 'held')),
     generation integer NOT NULL,
     idempotency_key text NOT NULL,
     exposure text NOT NULL DEFAULT 'none' CHECK (exposure IN ('none', 'open', 'lost')),
     service_id text CONSTRAINT invoice_service_id UNIQUE,
     attempts integer NOT NULL DEFAULT 0,
     asks integer NOT NULL DEFAULT 0,
     first_sent_at bigint,
     accepted_at bigint,
     settled_at bigint,
     changed_at bigint NOT NULL,
     reason_code text,
     reason_message text,
     flags text[] NOT NULL DEFAULT '{}'
   ) WITH (fillfactor = 60)`,
  `CREATE TABLE invoice_content (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     content text NOT NULL,
     merchant_legal_name text,
     merchant_email text,
     PRIMARY KEY (invoice_id, generation)
   )`,
  `CREATE TABLE invoice_body (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     body text NOT NULL,
     PRIMARY KEY (invoice_id, generation)
   )`,
  // How each earlier generation ended; its service id stays known, for late answers about it must never be overlooked.
  `CREATE TABLE invoice_generation (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     fingerprint text NOT NULL,
     idempotency_key text NOT NULL,
     state text NOT NULL,
     service_id text UNIQUE,
     attempts integer NOT NULL,
     first_sent_at bigint,
     settled_at bigint,
     reason_code text,
     reason_message text,
     flags text[] NOT NULL,
     PRIMARY KEY (invoice_id, generation)
   )`,
  `CREATE TABLE batch_invoice (
     batch_id text NOT NULL,
     ordinal integer NOT NULL,
     invoice_id bigint,
     outcome text,
     generation integer,
     merchant_nif text NOT NULL,
     invoice_ref text NOT NULL,
     currency text,
     net text,
     file_rows integer[] NOT NULL,
     findings text,
     reason_code text,
     reason_message text,
     PRIMARY KEY (batch_id, ordinal),
     CONSTRAINT batch_invoice_once UNIQUE (invoice_id, batch_id)
   )`,
  `CREATE TABLE merchant (
     application text NOT NULL,
     nif text NOT NULL,
     merchant_id text NOT NULL,
     PRIMARY KEY (application, nif)
   )`,
  `CREATE TABLE webhook_endpoint (
     base_url text NOT NULL,
     application text NOT NULL,
     url text NOT NULL,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     secret text,
     registered_at bigint NOT NULL,
     PRIMARY KEY (base_url, application, url)
   )`,
  `CREATE TABLE delivery (
     sha256 text PRIMARY KEY,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     raw bytea NOT NULL,
     received_at bigint NOT NULL,
     event_type text,
     event_id text,
     service_id text,
     verdict text CHECK (verdict IN ('issued', 'failed')),
     reason_code text,
     reason_message text
   )`,
  `CREATE INDEX delivery_service_id ON delivery (service_id) WHERE service_id IS NOT NULL`,
  `CREATE TABLE breaker (
     base_url text PRIMARY KEY,
     reason_code text NOT NULL,
     reason_message text NOT NULL,
     opened_at bigint NOT NULL,
     probe_after bigint NOT NULL
   )`,
];
