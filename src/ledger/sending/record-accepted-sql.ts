import { isItem, ofItem } from '../database/of-item.ts';
import { fromStates } from '../database/states.ts';

const GENERATION = ofItem('$2::integer[]', 'i.invoice_id');
const SERVICE_ID = ofItem('$3::text[]', 'i.invoice_id');
const ATTEMPTS = ofItem('$4::integer[]', 'i.invoice_id');
const SENT_AT = ofItem('$5::bigint[]', 'i.invoice_id');
const ANSWERED_AT = ofItem('$6::bigint[]', 'i.invoice_id');

/**
 * Not `IS NULL`, which the index of service ids answers, too: after a sample of invoices that have all been sent it seems to find none, and it finds
 * all that are still to be sent.
 */
const HAS_NO_ID = `coalesce(i.service_id, '') = ''`;

/** One invoice that `RECORD_ACCEPTED` has written. */
export interface RecordedAccepted {
  readonly invoice_id: number;
}

/**
 * Arrays, by rising invoice id: invoiceId, generation, serviceId, attempts, sentAt, answeredAt. What nearly every answer says: accepted, with an
 * id that nothing else has. Everything else is left as it is, and is written by `RECORD_SENDS`, whose rules these are: an
 * earlier generation with that id, another id, another state. Where another invoice has the id, the unique index refuses
 * the statement as a whole.
 */
export const RECORD_ACCEPTED = `/* record-accepted */
UPDATE invoice i SET state = 'accepted', accepted_at = ${ANSWERED_AT}, changed_at = ${ANSWERED_AT}, asks = 0,
  service_id = ${SERVICE_ID},
  attempts = i.attempts + ${ATTEMPTS},
  first_sent_at = CASE WHEN ${ATTEMPTS} > 0 THEN coalesce(i.first_sent_at, ${SENT_AT}) ELSE i.first_sent_at END,
  reason_code = NULL, reason_message = NULL
WHERE i.invoice_id = ANY($1::bigint[]) AND ${isItem('i.invoice_id')} AND i.generation = ${GENERATION}
  AND i.state IN ${fromStates('accept')} AND ${HAS_NO_ID}
  AND (SELECT g.service_id FROM invoice_generation g WHERE g.service_id = ${SERVICE_ID}) IS NULL
RETURNING i.invoice_id`;
