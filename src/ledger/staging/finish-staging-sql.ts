import { BATCH_COLUMNS } from '../batches/batch-columns-sql.ts';

/** batchId, rows, rowsWithoutInvoice, invoices, pageSize, proof. */
export const FINISH_STAGING = `/* finish-staging */
UPDATE batch SET state = 'running', row_count = $2, rows_without_invoice = $3, invoices = $4::integer, page_size = $5::integer,
  pages = ceil($4::integer::numeric / $5::integer)::integer, proof = $6
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;
