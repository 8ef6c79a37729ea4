import { hash } from 'node:crypto';
import { groupKeyOf } from '../../domain/look-alike.ts';
import type { RawRow, RowStore } from '../../domain/row.ts';
import { claimLost, lockBatch, readingLost } from '../batches/batch.ts';
import type { Database, Queries } from '../../database/database.ts';
import { column } from '../sql.ts';
import type { BatchClaim } from '../../domain/records/batch-record.ts';

/** Number of rows in memory at a time; the rows of one identity are there in addition. */
const PORTION = 1_000;

/** [ref, nif, object, cells]; the row number has its own column. JSON keeps NUL, which PostgreSQL text cannot hold. */
type StoredRow = readonly [string, string, number | null, readonly (string | null)[]];

/** Stores the rows of a file in the ledger while Lote reads it. The ledger groups them in one pass, however large the file is. */
export function createBatchRowStore(database: Database, claim: BatchClaim): RowStore {
  return {
    async append(rows) {
      if (rows.length === 0) return;
      const held = await database.query(APPEND_BATCH_ROWS, [
        claim.batchId,
        claim.fencingToken,
        column(rows, (row) => row.row),
        column(rows, identityHash),
        column(rows, (row) => JSON.stringify([row.ref, row.nif, row.object, row.cells] satisfies StoredRow)),
      ]);
      if (held.length === 0) throw claimLost(claim, 'the batch is read by a later attempt, or its staging has ended');
    },
    groups: () => readGroups(database, claim),
  };
}

async function* readGroups(database: Database, claim: BatchClaim): AsyncGenerator<readonly RawRow[]> {
  const { batchId } = claim;
  await database.transaction(async (queries) => {
    const { state } = await lockBatch(queries, claim, readingLost);
    if (state !== 'staging') return;
    await queries.query(FORGET_ROW_ORDER, [batchId]);
    await queries.query(ORDER_BATCH_ROWS, [batchId]);
  });
  let group: RawRow[] = [];
  let groupStart: number | null = null;
  for await (const ordered of readOrderedRows(database, batchId)) {
    if (ordered.firstRow !== groupStart && group.length > 0) {
      yield group;
      group = [];
    }
    groupStart = ordered.firstRow;
    group.push(rawRow(ordered));
  }
  if (group.length > 0) yield group;
}

async function* readOrderedRows(database: Database, batchId: string): AsyncGenerator<OrderedRow> {
  let firstRow = -1;
  let fileRow = -1;
  for (;;) {
    const rows = await database.query<OrderedRow>(NEXT_ORDERED_ROWS, [batchId, firstRow, fileRow, PORTION]);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PORTION) return;
    firstRow = last.firstRow;
    fileRow = last.fileRow;
  }
}

function rawRow(ordered: OrderedRow): RawRow {
  const [ref, nif, object, cells] = JSON.parse(ordered.rawRow) as StoredRow;
  return { row: ordered.fileRow, ref, nif, object, cells };
}

/** Groups rows that may belong to one invoice. The hash has a fixed size, whatever the cells contain. */
function identityHash(row: RawRow): string {
  return hash('sha256', groupKeyOf(row), 'base64url');
}

/**
 * Parameters: batchId, fencing token, file rows, identities (hashes), raw rows (JSON). Writes and returns nothing if a later attempt reads the file. The lock
 * stops a later attempt until the rows are committed, and portions need not wait for each other.
 */
const APPEND_BATCH_ROWS = `/* append-batch-rows */
WITH claim AS (
  SELECT batch_id FROM batch WHERE batch_id = $1 AND fencing_token = $2 AND state = 'staging' FOR SHARE
), appended AS (
  INSERT INTO batch_row (batch_id, file_row, identity, raw_row)
  SELECT claim.batch_id, u.file_row, u.identity, u.raw_row
  FROM claim, unnest($3::integer[], $4::text[], $5::text[]) AS u(file_row, identity, raw_row)
)
SELECT batch_id FROM claim`;

/** Parameter: batchId. Sorts in one pass over all rows. The rows may spill to the database's disk, and never come to this process. */
const ORDER_BATCH_ROWS = `/* order-batch-rows */
INSERT INTO batch_row_order (batch_id, first_row, file_row)
SELECT batch_id, min(file_row) OVER (PARTITION BY identity), file_row FROM batch_row WHERE batch_id = $1`;

const FORGET_ROW_ORDER = `/* forget-row-order */
DELETE FROM batch_row_order WHERE batch_id = $1`;

const FORGET_BATCH_ROWS = `/* forget-batch-rows */
DELETE FROM batch_row WHERE batch_id = $1`;

/** Deletes the raw rows of a file. */
export async function forgetRows(queries: Queries, batchId: string): Promise<void> {
  await queries.query(FORGET_ROW_ORDER, [batchId]);
  await queries.query(FORGET_BATCH_ROWS, [batchId]);
}

/** A row of `NEXT_ORDERED_ROWS`. `raw_row` is JSON; `first_row` is the first file row of its invoice. */
interface OrderedRow {
  readonly firstRow: number;
  readonly fileRow: number;
  readonly rawRow: string;
}

const NEXT_ORDERED_ROWS = `/* next-ordered-rows */
SELECT o.first_row, o.file_row, r.raw_row
FROM (
  SELECT first_row, file_row FROM batch_row_order
  WHERE batch_id = $1 AND (first_row, file_row) > ($2, $3)
  ORDER BY first_row, file_row LIMIT $4
) o JOIN batch_row r ON r.batch_id = $1 AND r.file_row = o.file_row
ORDER BY o.first_row, o.file_row`;
