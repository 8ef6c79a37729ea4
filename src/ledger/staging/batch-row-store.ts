import { hash } from 'node:crypto';
import { groupKeyOf } from '../../domain/look-alike.ts';
import type { BatchClaim } from '../../domain/ports/ledger/batch-record.ts';
import type { RowStore } from '../../domain/ports/row-store.ts';
import type { RawRow } from '../../domain/row.ts';
import { claimLost, lockUnderClaim } from '../batches/claim-proof.ts';
import type { Database } from '../database/database.ts';
import { column } from '../database/array-literal.ts';
import type { OrderedRow } from './batch-rows-sql.ts';
import { APPEND_BATCH_ROWS, FORGET_ROW_ORDER, NEXT_ORDERED_ROWS, ORDER_BATCH_ROWS } from './batch-rows-sql.ts';

/** Rows in memory at a time, apart from those of one identity. */
const PORTION = 1_000;

/** [ref, nif, object, cells]: the row's number is a column of its own. JSON keeps what PostgreSQL text cannot hold (NUL). */
type StoredRow = readonly [string, string, number | null, readonly (string | null)[]];

/** Rows of a file that is being read, in the ledger: grouped there, in one pass, however large the file. */
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
    const { state } = await lockUnderClaim(queries, claim);
    if (state !== 'staging') return;
    await queries.query(FORGET_ROW_ORDER, [batchId]);
    await queries.query(ORDER_BATCH_ROWS, [batchId]);
  });
  let group: RawRow[] = [];
  let groupStart: number | null = null;
  for await (const ordered of readOrderedRows(database, batchId)) {
    if (ordered.first_row !== groupStart && group.length > 0) {
      yield group;
      group = [];
    }
    groupStart = ordered.first_row;
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
    firstRow = last.first_row;
    fileRow = last.file_row;
  }
}

function rawRow(ordered: OrderedRow): RawRow {
  const [ref, nif, object, cells] = JSON.parse(ordered.raw_row) as StoredRow;
  return { row: ordered.file_row, ref, nif, object, cells };
}

/** Rows that may be of one invoice come together. Of fixed size, whatever stands in the cells. */
function identityHash(row: RawRow): string {
  return hash('sha256', groupKeyOf(row), 'base64url');
}
