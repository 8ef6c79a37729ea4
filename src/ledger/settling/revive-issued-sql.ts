import { PAGE_INVOICES } from '../batches/page-of-sql.ts';
import { fromStates } from '../database/states.ts';
import { KEEP_GENERATION_OF_TARGET } from './keep-generation-sql.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER } from './other-document-sql.ts';

/** That invoice `i` ended without a document, and an earlier one of it is issued: of its content or of another. */
const ENDED_AFTER_ISSUED = `(i.flags <> '{}' AND i.flags @> '{issued-in-earlier-generation}' AND i.state IN ${fromStates('regenerate')})`;

/**
 * Issues the invoices `i` for which `condition` holds and that failed, or were refused, after the service had issued an earlier document of the same content.
 * That document is the invoice, as where it was issued last; the generation that ended stays known, because late news of its document must reach it. Other
 * content is no reason: it stays as it ended. Runs after whatever writes how a generation ended, in a new snapshot: that one has waited for whoever wrote the flag.
 */
function reviveIssued(condition: string): string {
  return `/* revive-issued */
WITH target AS (
  SELECT i.*
  FROM invoice i
  WHERE ${condition} AND ${ENDED_AFTER_ISSUED}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), risen AS (
  SELECT DISTINCT ON (g.invoice_id) g.invoice_id, g.service_id, g.idempotency_key, g.first_sent_at, g.settled_at
  FROM target t JOIN invoice_generation g ON g.invoice_id = t.invoice_id AND g.fingerprint = t.fingerprint
  WHERE g.state = 'issued' AND g.service_id IS NOT NULL
  ORDER BY g.invoice_id, g.generation
), kept AS (
  ${KEEP_GENERATION_OF_TARGET} JOIN risen r ON r.invoice_id = t.invoice_id
)
UPDATE invoice i SET
  state = 'issued', service_id = r.service_id, idempotency_key = r.idempotency_key, first_sent_at = r.first_sent_at,
  settled_at = r.settled_at, changed_at = greatest(i.changed_at, r.settled_at), reason_code = NULL, reason_message = NULL,
  flags = ${FLAGS_WITHOUT_OLDER_LEDGER} || CASE WHEN i.flags @> '{issued-after-failed}' THEN '{}'::text[] ELSE '{issued-after-failed}' END
FROM risen r
WHERE i.invoice_id = r.invoice_id AND ${ENDED_AFTER_ISSUED}
RETURNING i.invoice_id`;
}

/** invoiceIds. */
export const REVIVE_ISSUED = reviveIssued('i.invoice_id = ANY($1::bigint[])');

/** batchId, page: a process that wrote how one of them ended may have died before it looked. */
export const REVIVE_ISSUED_OF_PAGE = reviveIssued(`i.invoice_id = ANY(${PAGE_INVOICES})`);

/** The same for all invoices; those with a flag are few, and have an index. */
export const REVIVE_ALL_ISSUED = reviveIssued('true');
