import type { Ledger } from '../../../domain/ports/ledger/ledger.ts';
import type { MeasureStatement } from '../../../domain/ports/measures.ts';
import type { KeyOf } from '../key-of.ts';
import { measuredDatabase } from '../measured-database.ts';
import { openLedger } from '../../ledger.ts';
import { makeLedger } from './new-ledger.ts';
import { openPgliteDatabase } from './open-pglite-database.ts';

export interface PgliteLedgerOptions {
  /** Made when it is missing. The caller holds the lock on it: PGlite has none, and two processes would both write and silently lose. */
  readonly directory: string;
  /** Folder of this user for new ledgers to be copied from; made when it is missing. */
  readonly templates: string;
  readonly keyOf: KeyOf;
  /** Left out: nobody measures. */
  readonly measure?: MeasureStatement | undefined;
}

/**
 * The embedded ledger.
 * @throws LoteError `ledger-unavailable` when the database does not start, or a new one cannot be made.
 */
export async function openPgliteLedger({ directory, templates, keyOf, measure }: PgliteLedgerOptions): Promise<Ledger> {
  await makeLedger(directory, templates);
  const database = measuredDatabase(await openPgliteDatabase(directory), measure);
  return openLedger({ database, schema: null, keyOf });
}
