import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/** limit; newest first. */
export const LIST_BATCHES = `/* list-batches */
SELECT ${BATCH_COLUMNS} FROM batch ORDER BY started_at DESC, seq DESC LIMIT $1`;
