import { BATCH_COLUMNS } from '../batches/batch-columns-sql.ts';

/**
 * batchId, fencing token of the round before, attempt. No row when another run has claimed the batch, a later round has begun, or a later
 * attempt has begun this one.
 */
export const BEGIN_ROUND = `/* begin-round */
UPDATE batch SET fencing_token = fencing_token + 1, raised_from = $2, raised_attempt = $3
WHERE batch_id = $1 AND (fencing_token = $2 OR (raised_from = $2 AND raised_attempt < $3))
RETURNING ${BATCH_COLUMNS}`;
