/**
 * The ledger of 0.2.0, in the order in which a batch uses its tables. Hot tables (`invoice`, `batch_invoice`,
 * `delivery`) have no foreign keys: a check costs as much as the insert itself, and only the ledger writes to them.
 */
export const SCHEMA: readonly string[] = [
  // Small values that all processes share, as JSON: the ledger's id, registrations of webhooks, rates, circuit breakers.
  `CREATE TABLE fact (
     key text PRIMARY KEY,
     value text NOT NULL
   ) WITH (fillfactor = 50)`,
  // The first opening sets the id, because a new embedded ledger is a copy of one that was never opened.
  `INSERT INTO fact VALUES ('ledger-id', '""')`,

  // One file: its state, the run that holds the claim, and the operators' orders.
  `CREATE TABLE batch (
     batch_id text PRIMARY KEY,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     application text NOT NULL,
     file text NOT NULL,
     sha256 text NOT NULL,
     state text NOT NULL CHECK (state IN ('staging', 'refused', 'running', 'paused', 'cancelled', 'finished')),
     workflow_id text NOT NULL,
     run_id text NOT NULL,
     fencing_token integer NOT NULL DEFAULT 0, -- rises with each start of the work on the batch
     raised_from integer, -- the token before; null: a run's claim raised it
     raised_attempt integer NOT NULL DEFAULT 0, -- the attempt of the step that raised it
     sending_stop text, -- null: the run may send
     control_version integer NOT NULL DEFAULT 0,
     stopped text, -- who stopped the batch, when and why, as JSON
     page_size integer NOT NULL DEFAULT 0,
     pages integer NOT NULL DEFAULT 0,
     row_count integer NOT NULL DEFAULT 0,
     rows_without_invoice integer NOT NULL DEFAULT 0,
     invoices integer NOT NULL DEFAULT 0,
     started_at bigint NOT NULL,
     finished_at bigint,
     purged_at bigint,
     revision integer NOT NULL DEFAULT 0, -- of the report
     proof text NOT NULL DEFAULT '{}', -- what the reader proved about the file, as JSON
     file_pattern text, -- the name with digits and dates folded; null: the total was not checked
     total text, -- of the file, as JSON
     total_check text, -- how it compares with earlier files of the pattern, as JSON
     total_checked_at bigint,
     total_confirmed_at bigint,
     reported_revision integer, -- of the last report that is written; null: none is
     reported_at bigint,
     reported_mark text, -- what that report said beyond states
     news integer NOT NULL DEFAULT 0, -- rises with what a report must say and no state shows
     figures text, -- numbers of that report as JSON, so that pictures of many nights read no invoice
     UNIQUE (application, sha256)
   )`,
  'CREATE INDEX batch_pattern ON batch (application, file_pattern, total_checked_at)',

  // Raw rows of a large file while Lote reads it.
  `CREATE TABLE batch_row (
     batch_id text NOT NULL,
     file_row integer NOT NULL,
     identity text NOT NULL,
     raw_row text NOT NULL,
     PRIMARY KEY (batch_id, file_row)
   )`,
  // The same rows, sorted by the first row of their identity; one pass over the rows sorts them.
  `CREATE TABLE batch_row_order (
     batch_id text NOT NULL,
     first_row integer NOT NULL,
     file_row integer NOT NULL,
     PRIMARY KEY (batch_id, first_row, file_row)
   )`,

  // Findings about a whole file, or about rows without an invoice.
  `CREATE TABLE finding (
     batch_id text NOT NULL,
     seq integer NOT NULL,
     finding text NOT NULL,
     PRIMARY KEY (batch_id, seq)
   )`,

  // The state machine. Rows hold no long text and no index on the state, so that most updates stay in their disk page (HOT). A
  // slice freezes all invoices of a disk page at once, before PostgreSQL can remove older versions. A disk page needs room for
  // two versions of each invoice; else a quarter of them move to another page, and each move writes to every index.
  `CREATE TABLE invoice (
     invoice_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     identity text NOT NULL CONSTRAINT invoice_identity UNIQUE,
     application text NOT NULL,
     merchant_nif text NOT NULL,
     invoice_ref text NOT NULL,
     -- The same for references that look alike; null: a person has confirmed that it only looks like another one.
     skeleton uuid CONSTRAINT invoice_skeleton UNIQUE,
     fingerprint text NOT NULL,
     owner_batch text NOT NULL,
     state text NOT NULL CHECK (state IN
       ('staged', 'sending', 'accepted', 'issued', 'failed', 'rejected', 'unknown', 'unsettled', 'held')),
     generation integer NOT NULL,
     idempotency_key text NOT NULL,
     exposure text NOT NULL DEFAULT 'none' CHECK (exposure IN ('none', 'open', 'lost')),
     service_id text,
     attempts integer NOT NULL DEFAULT 0,
     asks integer NOT NULL DEFAULT 0, -- GETs since it was accepted
     first_sent_at bigint,
     accepted_at bigint,
     settled_at bigint,
     changed_at bigint NOT NULL,
     reason_code text,
     reason_message text,
     flags text[] NOT NULL DEFAULT '{}'
   ) WITH (fillfactor = 45)`,
  // The predicates of these indexes are always false for an ordinary invoice, so these indexes cost it nothing.
  `CREATE INDEX invoice_flagged ON invoice (invoice_id) WHERE flags <> '{}'`,
  'CREATE INDEX invoice_with_reason ON invoice (owner_batch) WHERE reason_code IS NOT NULL',

  // The file's content for each generation, as JSON text with exact decimal strings.
  `CREATE TABLE invoice_content (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     content text NOT NULL,
     merchant_legal_name text,
     merchant_email text,
     PRIMARY KEY (invoice_id, generation)
   )`,

  // The frozen bytes. No POST of them leaves before the freeze, so the retention window starts there.
  `CREATE TABLE invoice_body (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     body text NOT NULL,
     frozen_at bigint NOT NULL,
     risk_accepted_at bigint, -- an operator had these bytes sent after the window: for that retry it starts again
     PRIMARY KEY (invoice_id, generation)
   )`,

  // The result of each earlier generation. The service id stays, because Lote must never overlook late answers about it.
  `CREATE TABLE invoice_generation (
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     fingerprint text NOT NULL,
     idempotency_key text NOT NULL,
     state text NOT NULL,
     service_id text,
     attempts integer NOT NULL,
     first_sent_at bigint,
     settled_at bigint,
     reason_code text,
     reason_message text,
     flags text[] NOT NULL,
     PRIMARY KEY (invoice_id, generation)
   )`,

  // The invoice of each service id that an answer named, for any generation. Its own table, because an index on
  // `invoice.service_id` would make the record of every answer write to all indexes of `invoice`.
  `CREATE TABLE document (
     service_id text PRIMARY KEY,
     invoice_id bigint NOT NULL
   )`,

  // One line of a report. `outcome` is the batch's own outcome; null means that the state of the invoice is the outcome.
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
  'CREATE INDEX batch_invoice_ref ON batch_invoice (invoice_ref)',
  'CREATE INDEX batch_invoice_nif ON batch_invoice (merchant_nif)',

  // The id of each merchant. If the list that Lote read last has another id or none, the merchant's invoices are held.
  `CREATE TABLE merchant (
     application text NOT NULL,
     nif text NOT NULL,
     merchant_id text NOT NULL,
     listed_id text,
     PRIMARY KEY (application, nif)
   )`,

  // Events of correctly signed deliveries, in the order of storage.
  `CREATE TABLE delivery (
     sha256 text PRIMARY KEY,
     seq bigint GENERATED ALWAYS AS IDENTITY,
     raw bytea, -- only of what could not be read: a person may want to see it
     received_at bigint NOT NULL,
     event_type text,
     event_id text,
     service_id text,
     verdict text CHECK (verdict IN ('issued', 'failed')),
     reason_code text,
     reason_message text
   )`,
  'CREATE INDEX delivery_service_id ON delivery (service_id) WHERE service_id IS NOT NULL',
  `CREATE INDEX delivery_failed ON delivery (received_at) WHERE verdict = 'failed'`,
  // Costs almost nothing per delivery, and finds the last hours in a table of millions.
  'CREATE INDEX delivery_received ON delivery USING brin (received_at)',

  // The service account of each application. The fingerprint is a short hash, salted with the ledger's id.
  `CREATE TABLE service_account (
     application text PRIMARY KEY,
     base_url text NOT NULL,
     key_fingerprint text NOT NULL,
     confirmed_at bigint NOT NULL
   )`,

  // The last key of each invoice that was sent without a record in this ledger, until Lote sends the invoice again.
  `CREATE TABLE lost_send (
     identity text PRIMARY KEY,
     idempotency_key text NOT NULL,
     sent_at bigint NOT NULL
   )`,

  // Actions of operators and of the retry policy, with the invoices that each action changed.
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
  'CREATE INDEX audit_batch ON audit (batch_id, seq)',
  `CREATE TABLE audit_invoice (
     action_id text NOT NULL,
     invoice_id bigint NOT NULL,
     generation integer NOT NULL,
     ordinal integer NOT NULL,
     move text NOT NULL,
     from_state text NOT NULL,
     PRIMARY KEY (action_id, invoice_id, generation)
   )`,

  // The last report's outcomes of invoices that may still change. Reconciliation reads only this table.
  `CREATE TABLE report_outcome (
     batch_id text NOT NULL,
     ordinal integer NOT NULL,
     state text NOT NULL,
     generation integer NOT NULL,
     PRIMARY KEY (batch_id, ordinal)
   )`,

  // Invoices by the lines that show their present state. OFFSET 0 makes the planner look up each one separately. Otherwise it may
  // read all invoices of the ledger for the lines of one batch, or search an array of a slice again for each of its lines.
  `CREATE VIEW live_line AS
   SELECT bi.batch_id, bi.ordinal, bi.file_rows, i.*
   FROM batch_invoice bi
   JOIN LATERAL (SELECT * FROM invoice own WHERE own.invoice_id = bi.invoice_id OFFSET 0) i ON true
   WHERE bi.outcome IS NULL`,

  // Invoices that the last report of a batch left open, and that no running batch owns. Reconciliation handles only these, so its cost does not grow with the
  // ledger. The table of outcomes is small, and there is no index on the state.
  `CREATE VIEW left_open AS
   SELECT i.*, owner.stopped IS NOT NULL AS is_stopped
   FROM (
     SELECT DISTINCT bi.invoice_id
     FROM report_outcome r JOIN batch_invoice bi ON bi.batch_id = r.batch_id AND bi.ordinal = r.ordinal
     WHERE bi.outcome IS NULL AND bi.invoice_id IS NOT NULL
   ) o
   JOIN invoice i ON i.invoice_id = o.invoice_id
   JOIN batch owner ON owner.batch_id = i.owner_batch AND owner.state IN ('finished', 'cancelled', 'refused')`,

  // Lines as reports, pages, searches, counts and metrics show them. If a later batch corrected the content
  // (`bi.generation`), the view shows the generation that this batch held, and how it ended.
  // `contradictions`: why a sent line is in doubt; without a flag, the column costs nothing. A flag alone is no doubt:
  // when the other document has failed, or is the issued one, only one document is valid. `second-service-id` without
  // another document means that another invoice has the id. If the line was corrected, the doubt is on the later line.
  // `issued_elsewhere`: another batch owns the issued invoice of the line. The ledger keeps no owner for a corrected
  // generation that was issued after all; the first of the batches that held it counts as the owner.
  `CREATE VIEW batch_line AS
   SELECT bi.batch_id, bi.ordinal, b.seq, b.application, b.file, b.started_at AS read_at,
     CASE WHEN b.page_size > 0 THEN (bi.ordinal - 1) / b.page_size + 1 ELSE 0 END AS page,
     bi.invoice_id, bi.invoice_ref AS ref, bi.merchant_nif, bi.file_rows AS rows, bi.currency, bi.net, bi.findings,
     bi.outcome, coalesce(bi.outcome, i.state) AS state, coalesce(bi.generation, i.generation, 0) AS generation,
     CASE WHEN bi.generation IS NULL THEN i.service_id ELSE g.service_id END AS service_id,
     CASE WHEN bi.generation IS NULL THEN i.idempotency_key ELSE g.idempotency_key END AS idempotency_key,
     coalesce(CASE WHEN bi.generation IS NULL THEN i.attempts ELSE g.attempts END, 0) AS attempts,
     coalesce(bi.reason_code, CASE WHEN bi.generation IS NULL THEN i.reason_code ELSE g.reason_code END) AS reason_code,
     coalesce(bi.reason_message, CASE WHEN bi.generation IS NULL THEN i.reason_message ELSE g.reason_message END) AS reason_message,
     coalesce(CASE WHEN bi.generation IS NULL THEN i.flags ELSE g.flags || '{corrected-by-later-batch}'::text[] END, '{}') AS flags,
     CASE WHEN bi.generation IS NULL THEN i.first_sent_at ELSE g.first_sent_at END AS sent_at,
     CASE WHEN bi.generation IS NULL THEN i.settled_at ELSE g.settled_at END AS settled_at,
     i.accepted_at, i.changed_at,
     CASE
       WHEN i.flags && '{second-service-id,shared-service-id,issued-in-earlier-generation,failed-after-issued}'
         AND bi.generation IS NULL AND coalesce(bi.outcome, i.state) IN ('issued', 'already-issued')
       THEN array_remove(ARRAY[
         CASE WHEN i.flags @> '{second-service-id}' AND (
           EXISTS (SELECT FROM invoice_generation o
             WHERE o.invoice_id = i.invoice_id AND o.service_id <> i.service_id AND o.state <> 'failed')
           OR NOT EXISTS (SELECT FROM invoice_generation o WHERE o.invoice_id = i.invoice_id AND o.generation < 0))
         THEN 'second-service-id' END,
         CASE WHEN i.flags @> '{shared-service-id}' THEN 'shared-service-id' END,
         CASE WHEN i.flags @> '{issued-in-earlier-generation}' AND EXISTS (
           SELECT FROM invoice_generation o
           WHERE o.invoice_id = i.invoice_id AND o.service_id <> i.service_id AND o.state = 'issued')
         THEN 'issued-in-earlier-generation' END,
         CASE WHEN i.flags @> '{failed-after-issued}' THEN 'failed-after-issued' END
       ]::text[], NULL)
       ELSE '{}'::text[] END AS contradictions,
     CASE
       WHEN coalesce(bi.outcome, i.state) <> 'issued' THEN false
       WHEN bi.generation IS NULL THEN i.owner_batch <> bi.batch_id
       ELSE EXISTS (
         SELECT 1 FROM batch_invoice held JOIN batch holder ON holder.batch_id = held.batch_id
         WHERE held.invoice_id = bi.invoice_id AND held.generation = bi.generation AND held.outcome = 'issued' AND holder.seq < b.seq)
       END AS issued_elsewhere
   FROM batch_invoice bi
   JOIN batch b ON b.batch_id = bi.batch_id
   LEFT JOIN LATERAL (SELECT * FROM invoice own WHERE own.invoice_id = bi.invoice_id OFFSET 0) i ON true
   LEFT JOIN invoice_generation g ON g.invoice_id = bi.invoice_id AND g.generation = bi.generation`,
];
