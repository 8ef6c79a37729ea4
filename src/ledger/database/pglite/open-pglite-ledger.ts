import { rm } from 'node:fs/promises';
import type { Database } from '../database.ts';
import { templatePath, makeLedger } from './new-ledger.ts';
import { measuredDatabase } from '../measured-database.ts';
import { type Ledger, openLedger } from '../../ledger.ts';
import { openPgliteDatabase } from './open-pglite-database.ts';
import type { MeasureStatement } from '../../../domain/records/measures.ts';

export interface PgliteLedgerOptions {
  /** Made when it is missing. The caller holds the lock on it: PGlite has none, and two processes would both write and silently lose. */
  readonly directory: string;
  /** Folder of this user for new ledgers to be copied from; made when it is missing. */
  readonly templates: string;
  /** Moves a damaged template aside. Left out: it is removed. */
  readonly putAside?: ((path: string) => Promise<void>) | undefined;
  /** Left out: nothing is measured. */
  readonly measure?: MeasureStatement | undefined;
}

/** The embedded ledger. @throws LoteError `ledger-unavailable` when the database does not start, or a new one cannot be made. */
export async function openPgliteLedger({
  directory,
  templates,
  measure,
  putAside = (path) => rm(path, { recursive: true, force: true }),
}: PgliteLedgerOptions): Promise<Ledger> {
  const isNew = await makeLedger(directory, templates);
  const database = measuredDatabase(await openPgliteDatabase(directory).catch(openWithoutTemplate), measure);
  return openLedger(database);

  /** A new ledger that does not open was copied from a damaged template, and holds nothing. */
  async function openWithoutTemplate(error: unknown): Promise<Database> {
    if (!isNew) throw error;
    await rm(directory, { recursive: true, force: true });
    await putAside(await templatePath(templates));
    await makeLedger(directory, templates);
    return openPgliteDatabase(directory);
  }
}
