import { fromStates } from '../database/states.ts';

/**
 * Arrays: invoiceId, generation, batchId, body; now. State and bytes in one statement: no invoice is ever `sending` without its bytes.
 * `= ANY` beside the first join keeps the planner on the primary key: tables that grow within minutes have no statistics yet.
 * Bytes of the same generation that were there before belong to a send that is proved never to have reached the service.
 */
export const FREEZE = `/* freeze */
WITH item AS (
  SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[]) AS u(invoice_id, generation, batch_id, body)
), target AS (
  SELECT i.invoice_id
  FROM invoice i JOIN item u ON u.invoice_id = i.invoice_id
  WHERE i.invoice_id = ANY($1::bigint[]) AND i.generation = u.generation AND i.owner_batch = u.batch_id AND i.state IN ${fromStates('freeze')}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
), moved AS (
  UPDATE invoice i SET state = 'sending', exposure = 'open', reason_code = NULL, reason_message = NULL, changed_at = $5
  FROM target t JOIN item u ON u.invoice_id = t.invoice_id
  WHERE i.invoice_id = t.invoice_id AND i.generation = u.generation AND i.owner_batch = u.batch_id AND i.state IN ${fromStates('freeze')}
  RETURNING i.invoice_id, i.generation, u.body
)
INSERT INTO invoice_body (invoice_id, generation, body, frozen_at)
SELECT invoice_id, generation, body, $5 FROM moved
ON CONFLICT (invoice_id, generation) DO UPDATE SET body = excluded.body, frozen_at = excluded.frozen_at
RETURNING invoice_id`;
