import { BATCH_COLUMNS } from './batch-columns-sql.ts';

/** batchId: nobody changes it until the transaction ends, and others may hold it so beside this one. */
export const SHARE_BATCH = `/* share-batch */
SELECT ${BATCH_COLUMNS} FROM batch WHERE batch_id = $1 FOR SHARE`;
