import { PAGE_OF } from './page-of.ts';

/** batchId. */
export const OPEN_PAGES = `/* open-pages */
SELECT DISTINCT ${PAGE_OF} AS page
FROM batch_invoice bi
JOIN batch b ON b.batch_id = bi.batch_id
JOIN invoice i ON i.invoice_id = bi.invoice_id
WHERE bi.batch_id = $1 AND b.page_size > 0 AND bi.outcome IS NULL
  AND (i.state = 'accepted' OR (i.owner_batch = $1 AND i.state IN ('staged', 'sending')))
ORDER BY page`;
