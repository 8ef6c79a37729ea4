import type { InvoiceState } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import { reasonJson } from '../database/sql.ts';

/** How a generation ended whose key is asked once more before the next one is used. */
export interface EarlierGeneration {
  readonly generation: number;
  readonly state: InvoiceState;
  /** The document that failed; null where the service refused. */
  readonly serviceId: string | null;
  readonly reason: Reason | null;
  /** Only an event called it failed; no GET could be read. */
  readonly isUnconfirmed: boolean;
  /** False: a corrected file has replaced its content. */
  readonly isSameContent: boolean;
}

/** The kept generations of invoice `i` whose key it still has. */
const SAME_KEY = `FROM invoice_generation g
  WHERE g.invoice_id = i.invoice_id AND g.generation BETWEEN 1 AND i.generation - 1 AND g.idempotency_key = i.idempotency_key`;

/**
 * That the present generation of invoice `i` still has key and bytes of an earlier one, which are repeated before it gets its own key (`next-key`): a POST of
 * it cannot make a second document.
 */
export const HAS_EARLIER_KEY = `(i.generation > 1 AND EXISTS (SELECT ${SAME_KEY} OFFSET 0))`;

/** How the generation ended whose key invoice `i` still has, as JSON; null where it has a key of its own. */
export const EARLIER_GENERATION = `CASE WHEN i.generation > 1 THEN (SELECT json_build_object('generation', g.generation, 'state', g.state, 'serviceId', g.service_id,
    'reason', ${reasonJson('g')},
    'isUnconfirmed', g.flags @> '{failure-unconfirmed}', 'isSameContent', g.fingerprint = i.fingerprint)
  ${SAME_KEY} AND g.state <> 'held' ORDER BY g.generation DESC LIMIT 1) END`;
