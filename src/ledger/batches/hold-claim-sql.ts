import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/**
 * batchId, workflowId, runId, state, attempt, temporalId: the claim changes hands, and whoever held it before can write no more. A
 * batch that runs again has not finished, and has its whole retry budget. What an operator ordered another run ends
 * with that run. The same run that claims again while Temporal does not say its id keeps the one of before.
 */
export const HOLD_CLAIM = `/* hold-claim */
UPDATE batch SET workflow_id = $2, run_id = $3, temporal_id = coalesce($6, CASE WHEN workflow_id = $2 AND run_id = $3 THEN temporal_id END), state = $4, finished_at = CASE WHEN state = $4 THEN finished_at END, repeats = 0,
  fencing_token = fencing_token + 1, raised_from = NULL, raised_attempt = $5,
  sending_stop = CASE WHEN workflow_id = $2 AND run_id = $3 THEN sending_stop END,
  control_version = CASE WHEN workflow_id = $2 AND run_id = $3 THEN control_version ELSE 0 END
WHERE batch_id = $1
RETURNING ${BATCH_COLUMNS}`;
