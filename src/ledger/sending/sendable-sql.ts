import { SLICE_INVOICES } from '../batches/page-of-sql.ts';

export interface SendableRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly generation: number;
  readonly content: string;
  readonly idempotency_key: string;
  readonly state: 'staged' | 'sending';
  readonly body: string | null;
  readonly merchant_id: string | null;
  readonly attempts: number;
  readonly first_sent_at: number | null;
  readonly may_exist: boolean;
  readonly may_exist_since: number | null;
  readonly error_kept: boolean;
}

/** batchId, from, to. Only an exposure `lost` says that the service may have it: tries that were all refused for now prove that it has not. An operator's accepted risk starts the retention window anew. */
export const SENDABLE = `/* sendable */
SELECT i.invoice_id, bi.ordinal, i.generation, c.content, i.idempotency_key, i.state, body.body, m.merchant_id, i.attempts, i.first_sent_at,
  i.state = 'sending' AND i.exposure = 'lost' AS may_exist,
  CASE WHEN i.state = 'sending' AND i.exposure = 'lost' THEN greatest(body.frozen_at, body.risk_accepted_at) END AS may_exist_since,
  i.state = 'sending' AND coalesce(i.reason_code = 'stored-error', false) AS error_kept
FROM batch_invoice bi
JOIN invoice i ON i.invoice_id = bi.invoice_id
JOIN invoice_content c ON c.invoice_id = i.invoice_id AND c.generation = i.generation
LEFT JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation AND i.state = 'sending'
LEFT JOIN merchant m ON m.application = i.application AND m.nif = i.merchant_nif
WHERE i.invoice_id = ANY(${SLICE_INVOICES}) AND bi.batch_id = $1 AND bi.ordinal BETWEEN $2 AND $3 AND bi.outcome IS NULL
  AND i.owner_batch = $1 AND i.state IN ('staged', 'sending')
ORDER BY bi.ordinal`;
