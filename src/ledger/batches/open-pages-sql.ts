import { PAGE_OF } from './page-of-sql.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';

/** batchId. What another running batch is about to send is waited for too: this batch's report must say how it ended. */
export const OPEN_PAGES = `/* open-pages */
SELECT DISTINCT ${PAGE_OF} AS page
FROM batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
JOIN invoice i ON i.invoice_id = bi.invoice_id
JOIN batch owner ON owner.batch_id = i.owner_batch
WHERE bi.batch_id = $1 AND b.page_size > 0 AND bi.outcome IS NULL
  AND (i.state = 'accepted' OR (i.state IN ('staged', 'sending') AND (i.owner_batch = $1 OR owner.state NOT IN ${CLOSED_BATCH_STATES})))
ORDER BY page`;
