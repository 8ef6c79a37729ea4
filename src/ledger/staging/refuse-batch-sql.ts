import { BATCH_COLUMNS } from '../batches/batch-columns-sql.ts';

/** batchId, rows, proof, now. No row of a refused file belongs to an invoice. */
export const REFUSE_BATCH = `/* refuse-batch */
UPDATE batch SET state = 'refused', row_count = $2, rows_without_invoice = $2, proof = $3, finished_at = $4
WHERE batch_id = $1 AND state = 'staging'
RETURNING ${BATCH_COLUMNS}`;
