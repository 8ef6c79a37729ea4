import type { BatchLedger } from '../../domain/ports/ledger/batch-ledger.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';
import { BATCH_COLUMNS, type BatchRow } from './batch-columns-sql.ts';
import { batchRecord } from './batch-record.ts';

/** limit of each application. One with many batches must not keep those of another one out. */
const OPEN_BATCHES = `/* open-batches */
SELECT ${BATCH_COLUMNS} FROM (
  SELECT batch.*, row_number() OVER (PARTITION BY application ORDER BY seq DESC) AS place
  FROM batch WHERE state NOT IN ${CLOSED_BATCH_STATES}
) open
WHERE place <= $1
ORDER BY application, place`;

/** Reads the batches that have not ended. */
export function createOpenBatches(database: Database): Pick<BatchLedger, 'newestOpenBatches'> {
  return {
    async newestOpenBatches(limit) {
      return (await database.query<BatchRow>(OPEN_BATCHES, [limit])).map(batchRecord);
    },
  };
}
