import { CLOSED_BATCH_STATES } from '../database/states.ts';

export interface KnownInvoice {
  readonly invoice_id: number;
  readonly identity: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly generation: number;
  readonly owner_batch: string;
  readonly owner_idle: boolean;
  readonly flags: readonly string[];
}

/**
 * identities, batchId: the invoices that were there before, locked in sorted order until the decision about them is written. Their owner sends
 * nothing when it is closed, or when it is this batch and its staging has started again without them.
 */
export const LOCK_KNOWN_INVOICES = `/* lock-known-invoices */
SELECT i.invoice_id, i.identity, i.fingerprint, i.state, i.generation, i.owner_batch, i.flags,
  b.state IN ${CLOSED_BATCH_STATES}
    OR (i.owner_batch = $2 AND NOT EXISTS (SELECT 1 FROM batch_invoice bi WHERE bi.invoice_id = i.invoice_id AND bi.batch_id = $2)) AS owner_idle
FROM invoice i JOIN batch b ON b.batch_id = i.owner_batch
WHERE i.identity = ANY($1::text[])
ORDER BY i.identity
FOR UPDATE OF i`;
