import { PAGE_OF } from '../batches/page-of-sql.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';

export interface RetryCandidateRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly page: number;
  readonly application: string;
  readonly merchant_nif: string;
  readonly invoice_ref: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly generation: number;
  readonly idempotency_key: string;
  readonly reason_code: string | null;
  readonly flags: readonly string[];
  readonly frozen_at: number | null;
  readonly free: boolean;
}

/**
 * batchId, states, rows or null, reason codes or null, ordinal after which to go on, limit. Locked until the decision about them is
 * written; a row that moved while it was waited for is judged as it is now.
 */
export const RETRY_CANDIDATES = `/* retry-candidates */
SELECT i.invoice_id, bi.ordinal, ${PAGE_OF} AS page, i.application, i.merchant_nif, i.invoice_ref, i.fingerprint, i.state, i.generation,
  i.idempotency_key, i.reason_code, i.flags, body.frozen_at,
  i.owner_batch = $1 OR owner.state IN ${CLOSED_BATCH_STATES} AS free
FROM (
  SELECT bi.invoice_id FROM batch_invoice bi JOIN invoice i ON i.invoice_id = bi.invoice_id
  WHERE bi.batch_id = $1 AND bi.outcome IS NULL AND bi.ordinal > $5
    AND i.state = ANY($2::text[])
    AND ($3::integer[] IS NULL OR bi.file_rows && $3::integer[])
    AND ($4::text[] IS NULL OR i.reason_code = ANY($4::text[]))
  ORDER BY bi.ordinal
  LIMIT $6
) chosen
JOIN invoice i ON i.invoice_id = chosen.invoice_id
JOIN batch_invoice bi ON bi.batch_id = $1 AND bi.invoice_id = i.invoice_id
JOIN batch b ON b.batch_id = $1
JOIN batch owner ON owner.batch_id = i.owner_batch
LEFT JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
ORDER BY i.invoice_id
FOR UPDATE OF i`;
