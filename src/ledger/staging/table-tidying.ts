import type { Database } from '../database/database.ts';
import { StatementFailure } from '../database/statement-failure.ts';

/**
 * So many rows staged since the tables were last looked at make it worth while to look again. Measured: 100 files of 1 to 4 invoices spent two thirds of
 * the time of all statements on tidying after each of them.
 */
const LOOK_EVERY_ROWS = 1_000;

/**
 * Tables that staging and sending fill, and that have grown by a tenth since they were last tidied. What the planner knows of a table holds for a
 * little more of the same, and to tidy reads the more the larger the ledger is.
 */
const GROWN_TABLES = `/* grown-tables */
SELECT relname AS name FROM pg_class
WHERE oid IN ('batch_row'::regclass, 'batch_row_order'::regclass, 'batch_invoice'::regclass, 'invoice'::regclass,
    'invoice_content'::regclass, 'invoice_body'::regclass, 'delivery'::regclass)
  AND pg_relation_size(oid) > 1.1 * relpages * current_setting('block_size')::integer
ORDER BY relname`;

/**
 * After a file is staged: statistics, without which the planner reads whole tables for a few invoices (measured: 3.4 ms against 1.5 ms for
 * the settled of one group), and the room of the dropped rows. PGlite has no autovacuum, and PostgreSQL's comes too late for a table that
 * grew within seconds. SKIP_LOCKED: when another process tidies already, that is enough.
 */
function tidyTables(tables: readonly string[]): string {
  return `/* tidy-tables */
VACUUM (ANALYZE, SKIP_LOCKED) ${tables.join(', ')}`;
}

/** Gives a function to be called after each file that is staged, with the number of its rows. */
export function createTableTidying(database: Database): (stagedRows: number) => Promise<void> {
  /** What was staged before this process is not known: after its first file it looks. */
  let rowsSinceLook = LOOK_EVERY_ROWS;

  /** Housekeeping of what is committed already: that it is refused must not undo the staging. */
  return async (stagedRows) => {
    rowsSinceLook += stagedRows;
    if (rowsSinceLook < LOOK_EVERY_ROWS) return;
    try {
      const grown = await database.query<{ name: string }>(GROWN_TABLES);
      if (grown.length > 0) await database.query(tidyTables(grown.map(({ name }) => name)));
      rowsSinceLook = 0;
    } catch (error) {
      if (!(error instanceof StatementFailure)) throw error;
    }
  };
}
