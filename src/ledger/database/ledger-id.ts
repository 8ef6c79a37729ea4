import { LoteError } from '../../domain/errors.ts';
import type { Database } from './database.ts';

/** Reads the id of the ledger. It is written once, and nothing changes it. */
export const LEDGER_ID = `/* ledger-id */
SELECT ledger_id FROM ledger_meta`;

/** Of a ledger that others are copied from. */
const OF_A_TEMPLATE = '';
const GIVE_ID = `/* give-ledger-id */
UPDATE ledger_meta SET ledger_id = 'lgr_' || replace(gen_random_uuid()::text, '-', '') WHERE ledger_id = $1`;
const TAKE_ID = `/* take-ledger-id */
UPDATE ledger_meta SET ledger_id = $1`;

/**
 * The id of the ledger; a copy of a template is given its own.
 * @throws LoteError `ledger-conflict` when there is none.
 */
export async function ledgerId(database: Database): Promise<string> {
  const [found] = await database.query<{ ledger_id: string }>(LEDGER_ID);
  if (found === undefined)
    throw new LoteError(
      'ledger-conflict',
      'Opening the ledger: its id is missing, so the database is not one of Lote. Correct DATABASE_URL, or restore the ledger (docs/operations/backup.md)',
    );
  if (found.ledger_id !== OF_A_TEMPLATE) return found.ledger_id;
  await database.query(GIVE_ID, [OF_A_TEMPLATE]);
  return ledgerId(database);
}

/** Makes a template of a new ledger: each copy is given an id of its own. */
export async function takeLedgerId(database: Database): Promise<void> {
  await database.query(TAKE_ID, [OF_A_TEMPLATE]);
}
