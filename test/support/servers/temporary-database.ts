import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { idempotencyKeyOf } from '../../../src/domain/fingerprint.ts';
import type { Ledger } from '../../../src/domain/ports/ledger.ts';
import { cacheDirectory } from '../../../src/file-system/cache-directory.ts';
import type { Database } from '../../../src/ledger/database/database.ts';
import { openPgliteDatabase } from '../../../src/ledger/database/pglite/open-pglite-database.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';

/** Where new embedded databases are copied from: the folder that `lote` itself uses. */
export const DATABASE_TEMPLATES = join(cacheDirectory(process.env), 'databases');

/** An embedded database of its own, whose directory goes when it is closed. */
export async function temporaryDatabase(): Promise<Database> {
  const parent = await mkdtemp(join(tmpdir(), 'lote-database-'));
  const database = await openPgliteDatabase({ directory: join(parent, 'ledger'), templates: DATABASE_TEMPLATES });
  return {
    ...database,
    async close() {
      await database.close();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** An embedded ledger of its own, whose directory goes when it is closed. */
export async function temporaryLedger(): Promise<Ledger> {
  return openLedger({ database: await temporaryDatabase(), schema: null, keyOf: idempotencyKeyOf });
}
