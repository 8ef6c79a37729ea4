import { invoicesOfBatch, onPage } from '../batches/page-of-sql.ts';
import { HAS_EARLIER_DOCUMENT, IS_DOUBTFUL } from '../settling/other-document-sql.ts';

/** Of batch $1, and nothing of it can have reached the service. */
const UNSENT = `i.owner_batch = $1 AND (i.state = 'staged' OR (i.state = 'sending' AND i.exposure = 'none'))`;

/** A process had it to send, and the ledger knows no POST of it that may have created a document: the process died before its POST, or before the answer. */
export const IS_UNANSWERED = `(i.state = 'sending' AND (i.exposure = 'open' OR (i.exposure = 'lost' AND i.first_sent_at IS NULL)))`;

const UNANSWERED = `i.owner_batch = $1 AND ${IS_UNANSWERED}`;

/** batchId, reason code, reason message, now. */
export const LEAVE_UNANSWERED = `/* leave-unanswered */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(UNANSWERED)}) AND ${UNANSWERED}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'unknown', reason_code = $2, reason_message = $3, changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${UNANSWERED}`;

/** batchId, reason code, reason message, now, merchant's NIF or null, page or null. Returns the ids of what is held now. */
export const HOLD_UNSENT = `/* hold-unsent */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(`${UNSENT} AND ($6::integer IS NULL OR ${onPage('$6::integer')})`)})
    AND ${UNSENT} AND ($5::text IS NULL OR i.merchant_nif = $5)
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET state = 'held', reason_code = $2, reason_message = $3, changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${UNSENT}
RETURNING i.invoice_id`;

/** Batch $1 holds it. What dropping the file again would not let go keeps its reason, and so does what comes back in the corrections for it. */
const HELD = `i.owner_batch = $1 AND i.state = 'held' AND NOT ${HAS_EARLIER_DOCUMENT} AND NOT ${IS_DOUBTFUL}
    AND coalesce(i.reason_code, '') <> 'merchant-details-missing'`;

/** batchId, reason code, reason message, now. */
export const HOLD_OTHERWISE = `/* hold-otherwise */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(HELD)}) AND ${HELD}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET reason_code = $2, reason_message = $3, changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${HELD}`;
