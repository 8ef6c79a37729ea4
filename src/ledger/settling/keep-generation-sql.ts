/** Keeps the generation of locked invoices `target t` as it ended, before an earlier document takes its place: late news of its own must still reach it. */
export const KEEP_GENERATION_OF_TARGET = `INSERT INTO invoice_generation (invoice_id, generation, fingerprint, idempotency_key, state, service_id, attempts,
    first_sent_at, settled_at, reason_code, reason_message, flags)
  SELECT t.invoice_id, t.generation, t.fingerprint, t.idempotency_key, t.state, t.service_id, t.attempts,
    t.first_sent_at, t.settled_at, t.reason_code, t.reason_message, t.flags
  FROM target t`;
