import { BATCH_COLUMNS } from '../batches/batch-columns-sql.ts';

/** application: batches that some run works on, or did before it was lost. */
export const OPEN_BATCHES = `/* open-batches */
SELECT ${BATCH_COLUMNS} FROM batch
WHERE application = $1 AND state IN ('staging', 'running', 'paused')
ORDER BY seq`;
