/** batchId. */
export const COUNT_STAGED = `/* count-staged */
SELECT count(*) AS staged FROM batch_invoice WHERE batch_id = $1`;
