import { takeLedgerId } from '../ledger-id.ts';
import { migrate } from '../migrations/migrate.ts';
import { syncTree } from './durable-tree.ts';
import { openPgliteDatabase } from './open-pglite-database.ts';

/**
 * Makes a new embedded ledger in `directory`, on the disk when this resolves. Its process keeps hundreds of MB of what the making took: see `findTemplate`.
 * @throws LoteError `ledger-unavailable`
 */
export async function initializeLedger(directory: string): Promise<void> {
  const database = await openPgliteDatabase(directory);
  try {
    await migrate(database, null);
    await takeLedgerId(database);
  } finally {
    await database.close();
  }
  // The files of a new cluster were written by another program, without any sync.
  syncTree(directory);
}
