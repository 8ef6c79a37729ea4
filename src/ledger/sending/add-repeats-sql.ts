/** batchId, repeats. */
export const ADD_REPEATS = `/* add-repeats */
UPDATE batch SET repeats = repeats + $2 WHERE batch_id = $1 RETURNING repeats`;
