import type { Database } from '../../ledger/database/database.ts';
import { createOpenBatches } from '../../ledger/batches/open-batches.ts';
import { createSharedFolders } from '../../ledger/operations/shared-folders.ts';
import { createSendingMarks } from '../../ledger/sending/sending-marks.ts';
import { createServiceUse } from '../../ledger/sending/service-use.ts';

/** The same database, which refuses every write. */
export function readOnly(database: Database): Database {
  const transaction: Database['transaction'] = (work) =>
    database.transaction(async (queries) => {
      await queries.query('SET TRANSACTION READ ONLY');
      return work(queries);
    });
  return {
    transaction,
    query: (text, params) => transaction((queries) => queries.query(text, params)),
    close: () => database.close(),
  };
}

/** What the doctor asks of a ledger, over a database that refuses writes and is not brought up to date. */
export function readOnlyLedger(database: Database, id: string) {
  return {
    id,
    ...createServiceUse(database),
    ...createSharedFolders(database),
    ...createSendingMarks(database),
    ...createOpenBatches(database),
  };
}

/** What the doctor asks of a ledger. */
export type ReadOnlyLedger = ReturnType<typeof readOnlyLedger>;
