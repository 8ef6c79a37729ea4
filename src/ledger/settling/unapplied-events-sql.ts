import { PAGE_INVOICES } from '../batches/page-of-sql.ts';

/**
 * batchId, page: service ids of the page's invoices for which an `issued` event is stored and not applied, in this generation or an earlier one.
 * `failed` events need no applying: a GET must confirm them (unconfirmed-failures).
 */
export const UNAPPLIED_EVENTS = `/* unapplied-events */
SELECT known.service_id FROM (
  SELECT i.service_id FROM invoice i
  WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND i.state = 'accepted'
  UNION ALL
  SELECT g.service_id FROM invoice_generation g
  WHERE g.invoice_id = ANY(${PAGE_INVOICES}) AND g.service_id IS NOT NULL AND g.state <> 'issued'
) known
WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = known.service_id AND d.verdict = 'issued')`;
