import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/** application, sha256: one claim of a file at a time. */
export const LOCK_BATCH_OF_FILE = `/* lock-batch-of-file */
SELECT ${BATCH_COLUMNS} FROM batch WHERE application = $1 AND sha256 = $2 FOR UPDATE`;
