/** batchId. */
export const NEXT_REVISION = `/* next-revision */
UPDATE batch SET revision = revision + 1 WHERE batch_id = $1 RETURNING revision`;
