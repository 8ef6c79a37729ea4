import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import type { BatchState } from '../../domain/records/batch-record.ts';
import { IS_ROWS_LOST, IS_ROWS_SKIPPED, IS_TOTALS_ROW } from '../batches/findings.ts';
import { type Database, onlyRow, type Queries, type SqlValue } from '../../database/database.ts';
import { arrayLiteral, CLOSED_BATCH_STATES, sqlList } from '../sql.ts';

/** SQL condition: batch `b` was purged and not reopened since. */
const IS_PURGED = `(b.state IN ${CLOSED_BATCH_STATES} AND coalesce(b.purged_at >= coalesce(b.finished_at, b.started_at), false))`;

/** SQL: invoices of batch `b` that may still change. */
const MAY_CHANGE = `FROM live_line i WHERE i.batch_id = b.batch_id AND i.state IN ${sqlList(REOPENING_STATES)}`;

/**
 * SQL condition with before ($1): batch `b` closed before it, and none of its invoices may still change. A purged batch
 * qualifies again when a late final word has settled an invoice whose content had to stay.
 */
const PURGEABLE = `b.state IN ${CLOSED_BATCH_STATES} AND coalesce(b.finished_at, b.started_at) < $1 AND NOT EXISTS (SELECT ${MAY_CHANGE})
  AND (NOT ${IS_PURGED} OR EXISTS (
    SELECT FROM live_line i WHERE i.batch_id = b.batch_id AND i.state = 'issued' AND i.settled_at > b.purged_at))`;

/** Parameters: before, application (null: all). The lock keeps the batches from being reopened meanwhile. */
const PURGEABLE_BATCHES = `/* purgeable-batches */
SELECT b.batch_id, b.sha256 FROM batch b
WHERE ${PURGEABLE} AND ($2::text IS NULL OR b.application = $2)
ORDER BY b.seq
FOR UPDATE OF b`;

/** Parameters: before, application (null: all). Lists batches of that age that cannot be purged yet, with the number of invoices that may still change. */
const STAYING_BATCHES = `/* staying-batches */
SELECT b.batch_id, b.state, (SELECT count(*) ${MAY_CHANGE}) AS invoices
FROM batch b
WHERE coalesce(b.finished_at, b.started_at) < $1 AND ($2::text IS NULL OR b.application = $2)
  AND NOT ${IS_PURGED} AND NOT (${PURGEABLE})
ORDER BY b.seq`;

/** Parameter: batchIds. Locks their invoices in the order of a staging, so that no new file attaches to an invoice whose content is being purged. */
const LOCK_PURGED_INVOICES = `/* lock-purged-invoices */
SELECT count(*) AS n FROM (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id = ANY(ARRAY(SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = ANY ($1::text[])))
  ORDER BY i.identity
  FOR UPDATE OF i
) locked`;

/** Invoices of these batches that no other unpurged batch holds. OFFSET 0 looks up each one separately, so that no table is read whole. */
const OF_PURGED_BATCHES = `ARRAY(SELECT DISTINCT bi.invoice_id FROM batch_invoice bi
  WHERE bi.batch_id = ANY ($1::text[]) AND NOT EXISTS (
    SELECT 1 FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
    WHERE other.invoice_id = bi.invoice_id AND NOT ${IS_PURGED} AND NOT b.batch_id = ANY ($1::text[])
    OFFSET 0))`;

/** Makes a statement that writes rows and returns their number as `n`. */
function counted(name: string, statement: string): string {
  return `/* ${name} */ WITH gone AS (${statement} RETURNING 1) SELECT count(*) AS n FROM gone`;
}

/** Makes SQL that deletes rows of these invoices: those of earlier generations, and all rows of an invoice in one of the states. */
function deleteFrom(table: string, states: string): string {
  return `DELETE FROM ${table} c
WHERE c.invoice_id = ANY(${OF_PURGED_BATCHES}) AND EXISTS (
  SELECT 1 FROM invoice i WHERE i.invoice_id = c.invoice_id AND (i.state IN ${states} OR c.generation < i.generation) OFFSET 0)`;
}

/** The next generation freezes its own bytes, so a settled invoice no longer needs the old ones. */
const PURGE_BODIES = counted('purge-bodies', deleteFrom('invoice_body', `('issued', 'failed', 'rejected')`));

/** An invoice that can be retried keeps its content. */
const PURGE_CONTENTS = counted('purge-contents', deleteFrom('invoice_content', `('issued')`));

/** Keeps the findings from which a report counts the rows in no invoice. */
const PURGE_FINDINGS = counted(
  'purge-findings',
  `DELETE FROM finding f WHERE f.batch_id = ANY ($1::text[]) AND NOT ${IS_ROWS_LOST} AND NOT ${IS_ROWS_SKIPPED} AND NOT ${IS_TOTALS_ROW}`,
);

const PURGE_TOTALS_ROWS = counted(
  'purge-totals-rows',
  `UPDATE finding f SET finding = '{"row":' || coalesce(substring(f.finding FROM '"row":([0-9]+)'), 'null')
  || ',"column":null,"code":"totals-row","message":"It is a totals row and not part of an invoice","severity":"warning"}'
WHERE f.batch_id = ANY ($1::text[]) AND ${IS_TOTALS_ROW}`,
);

const PURGE_ROW_FINDINGS = counted(
  'purge-row-findings',
  `UPDATE batch_invoice SET findings = NULL,
  reason_code = CASE WHEN outcome = 'invalid' THEN coalesce(reason_code, 'purged') ELSE reason_code END,
  reason_message = CASE WHEN outcome = 'invalid' THEN coalesce(reason_message, 'Removed by a purge; the report of the time says it.') ELSE reason_message END
WHERE batch_id = ANY ($1::text[]) AND findings IS NOT NULL`,
);

/** Parameter: before. Removes the bytes of unreadable deliveries, which belong to no application. */
const PURGE_UNREADABLE = counted(
  'purge-unreadable',
  `UPDATE delivery SET raw = NULL WHERE raw IS NOT NULL AND received_at < $1`,
);

const MARK_PURGED = `/* mark-purged */
UPDATE batch SET purged_at = $2 WHERE batch_id = ANY ($1::text[])`;

/** Parameter: hashes. Returns those whose batches are all closed, purged and not reopened since. All applications keep their copies in one place. */
const PURGED_FILES = `/* purged-files */
SELECT b.sha256 FROM batch b WHERE b.sha256 = ANY ($1::text[])
GROUP BY b.sha256
HAVING bool_and(${IS_PURGED})`;

const PURGED_AT = `/* purged-at */
SELECT purged_at FROM batch WHERE batch_id = $1`;

/** The data that a purge removes, or would remove. */
export interface Purged {
  /** Batches whose text the purge removes, with the hashes of their files. */
  readonly batches: readonly PurgedBatch[];
  /** Numbers of contents and bodies of invoices, findings of rows and files, and unreadable deliveries. */
  readonly contents: number;
  readonly bodies: number;
  readonly findings: number;
  readonly deliveries: number;
  /** Batches of that age that keep all their data, because they have not ended or some of their invoices may still be sent. */
  readonly staying: readonly StayingBatch[];
}

interface PurgedBatch {
  readonly batchId: string;
  readonly sha256: string;
}

interface StayingBatch {
  readonly batchId: string;
  readonly state: BatchState;
  /** The number of invoices that may still change. */
  readonly invoices: number;
}

interface PurgeRequest {
  readonly before: number;
  readonly dryRun: boolean;
  readonly now: number;
  /** Null purges the batches of all applications. */
  readonly application: string | null;
}

/**
 * Removes the content of files and deliveries, and keeps the data that exactly-once needs: identities, keys,
 * fingerprints, generations, states, service ids, hashes of files and deliveries.
 */
export function createPurge(database: Database) {
  return {
    /**
     * Purges every closed batch that ended before `before` and whose invoices can no longer change. An invoice that is not issued keeps its content, and one
     * that a younger batch holds keeps everything. Locks the batches that it checks, so a batch that is claimed meanwhile stays. Rolls back a dry run.
     */
    purge: ({ dryRun, ...request }: PurgeRequest): Promise<Purged> =>
      database.transaction(async (queries) => {
        await queries.query('SAVEPOINT dry_run');
        const purged = await purgeAll(queries, request);
        if (dryRun) await queries.query('ROLLBACK TO SAVEPOINT dry_run');
        return purged;
      }),

    /** Returns the hashes of files that no batch needs any more, because all their batches are purged. */
    async purgedFiles(hashes: readonly string[]): Promise<readonly string[]> {
      const rows = await database.query<{ sha256: string }>(PURGED_FILES, [arrayLiteral(hashes)]);
      return rows.map(({ sha256 }) => sha256);
    },

    /** Returns when the batch was purged (epoch milliseconds), or null if it was not. */
    async purgedAt(batchId: string): Promise<number | null> {
      const [row] = await database.query<{ purgedAt: number | null }>(PURGED_AT, [batchId]);
      return row?.purgedAt ?? null;
    },
  };
}

async function purgeAll(queries: Queries, { before, now, application }: Omit<PurgeRequest, 'dryRun'>): Promise<Purged> {
  const which = [before, application];
  const batches = await queries.query<PurgedBatch>(PURGEABLE_BATCHES, which);
  const staying = await queries.query<StayingBatch>(STAYING_BATCHES, which);
  const ids = arrayLiteral(batches.map(({ batchId }) => batchId));
  const removed = async (statement: string, value: SqlValue = ids): Promise<number> =>
    onlyRow(await queries.query<{ n: number }>(statement, [value])).n;
  const deliveries = await removed(PURGE_UNREADABLE, before);
  const found = { batches, deliveries, staying };
  if (batches.length === 0) return { ...found, contents: 0, bodies: 0, findings: 0 };
  await queries.query(LOCK_PURGED_INVOICES, [ids]);
  const bodies = await removed(PURGE_BODIES);
  const contents = await removed(PURGE_CONTENTS);
  const findings = (await removed(PURGE_FINDINGS)) + (await removed(PURGE_ROW_FINDINGS));
  await removed(PURGE_TOTALS_ROWS);
  await queries.query(MARK_PURGED, [ids, now]);
  return { ...found, contents, bodies, findings };
}
