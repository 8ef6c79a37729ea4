import { BATCH_COLUMNS } from './batch-columns.ts';

/** batchId, workflowId, runId, state: the claim changes hands; a batch that runs again has not finished, and has its whole retry budget. */
export const HOLD_CLAIM = `/* hold-claim */
UPDATE batch SET workflow_id = $2, run_id = $3, state = $4, finished_at = CASE WHEN state = $4 THEN finished_at END, repeats = 0
WHERE batch_id = $1
RETURNING ${BATCH_COLUMNS}`;
