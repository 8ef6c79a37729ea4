/**
 * batchId, state, now. Running and paused change freely and end as cancelled or finished; cancelled stays cancelled when
 * it finishes. Only a claim opens a closed batch again.
 */
export const SET_BATCH_STATE = `/* set-batch-state */
UPDATE batch SET
  state = CASE WHEN state = 'cancelled' THEN state ELSE $2 END,
  finished_at = CASE WHEN $2 IN ('cancelled', 'finished') THEN $3::bigint END
WHERE batch_id = $1
  AND (state IN ('running', 'paused') OR (state = 'cancelled' AND $2 = 'finished'))`;
