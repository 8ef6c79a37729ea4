import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/** batchId, application, file, sha256, workflowId, runId, now, attempt. No row when the file, or the batch's id, is known. */
export const INSERT_BATCH = `/* insert-batch */
INSERT INTO batch (batch_id, application, file, sha256, state, workflow_id, run_id, started_at, fencing_token, raised_attempt)
VALUES ($1, $2, $3, $4, 'staging', $5, $6, $7, 1, $8)
ON CONFLICT DO NOTHING
RETURNING ${BATCH_COLUMNS}`;
