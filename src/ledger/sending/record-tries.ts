import type { RecordSend } from '../../domain/ports/ledger/sending-ledger.ts';
import { column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

/** Arrays: invoiceId, generation, sentAt, answeredAt, reason code, reason message. A step that is repeated writes a try once. */
const RECORD_TRIES = `/* record-tries */
INSERT INTO invoice_try (invoice_id, generation, sent_at, answered_at, reason_code, reason_message)
SELECT u.* FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::text[]) AS u
ON CONFLICT DO NOTHING`;

/** Writes the POSTs that brought no final word, for the history of their invoices; nothing where there are none. */
export async function recordTries(database: Database, items: readonly RecordSend[]): Promise<void> {
  const tries = items.flatMap(({ invoiceId, generation, tries: open = [] }) =>
    open.map((one) => ({ ...one, invoiceId, generation })),
  );
  if (tries.length === 0) return;
  await database.query(RECORD_TRIES, [
    column(tries, (one) => one.invoiceId),
    column(tries, (one) => one.generation),
    column(tries, (one) => one.sentAt),
    column(tries, (one) => one.answeredAt),
    column(tries, (one) => one.reason.code),
    column(tries, (one) => one.reason.message),
  ]);
}
