import { CLOSED_BATCH_STATES } from './states.ts';

export interface KnownInvoice {
  readonly invoice_id: number;
  readonly identity: string;
  readonly fingerprint: string;
  readonly state: string;
  readonly generation: number;
  readonly owner_batch: string;
  readonly owner_closed: boolean;
  readonly flags: readonly string[];
}

/** identities: the invoices that were there before, locked in sorted order until the decision about them is written. */
export const LOCK_KNOWN_INVOICES = `/* lock-known-invoices */
SELECT i.invoice_id, i.identity, i.fingerprint, i.state, i.generation, i.owner_batch, i.flags,
  b.state IN ${CLOSED_BATCH_STATES} AS owner_closed
FROM invoice i JOIN batch b ON b.batch_id = i.owner_batch
WHERE i.identity = ANY($1::text[])
ORDER BY i.identity
FOR UPDATE OF i`;
