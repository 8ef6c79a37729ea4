import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/** batchId. */
export const FIND_BATCH = `/* find-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1`;

/** batchId: the same, and nobody else changes it until the transaction ends. */
export const LOCK_BATCH = `/* lock-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR UPDATE`;
