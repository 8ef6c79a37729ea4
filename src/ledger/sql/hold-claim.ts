import { BATCH_COLUMNS } from './batch-columns.ts';

/**
 * batchId, workflowId, runId, state, attempt: the claim changes hands, and whoever held it before can write no more. A batch that runs again has not finished, and has its whole retry budget.
 */
export const HOLD_CLAIM = `/* hold-claim */
UPDATE batch SET workflow_id = $2, run_id = $3, state = $4, finished_at = CASE WHEN state = $4 THEN finished_at END, repeats = 0,
  fencing_token = fencing_token + 1, raised_from = NULL, raised_attempt = $5
WHERE batch_id = $1
RETURNING ${BATCH_COLUMNS}`;
