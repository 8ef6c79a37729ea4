/**
 * batchId, fencing token, file rows, identities (hashes), raw rows (JSON). No row comes back, and none is written, when the token is not the
 * batch's: a later attempt reads the file. The lock keeps it so until the rows are committed; portions need not wait for each other.
 */
export const APPEND_BATCH_ROWS = `/* append-batch-rows */
WITH claim AS (
  SELECT batch_id FROM batch WHERE batch_id = $1 AND fencing_token = $2 AND state = 'staging' FOR SHARE
), appended AS (
  INSERT INTO batch_row (batch_id, file_row, identity, raw_row)
  SELECT claim.batch_id, u.file_row, u.identity, u.raw_row
  FROM claim, unnest($3::integer[], $4::text[], $5::text[]) AS u(file_row, identity, raw_row)
)
SELECT batch_id FROM claim`;

/** batchId: one pass over all rows, which may spill to disk in the database and never comes to this process. */
export const ORDER_BATCH_ROWS = `/* order-batch-rows */
INSERT INTO batch_row_order (batch_id, first_row, file_row)
SELECT batch_id, min(file_row) OVER (PARTITION BY identity), file_row FROM batch_row WHERE batch_id = $1`;

/** batchId. */
export const FORGET_ROW_ORDER = `/* forget-row-order */
DELETE FROM batch_row_order WHERE batch_id = $1`;

/** batchId. */
export const FORGET_BATCH_ROWS = `/* forget-batch-rows */
DELETE FROM batch_row WHERE batch_id = $1`;

/** One raw row of `NEXT_ORDERED_ROWS`. `raw_row` is JSON; `first_row` is the first file row of its invoice. */
export interface OrderedRow {
  readonly first_row: number;
  readonly file_row: number;
  readonly raw_row: string;
}

/** batchId, first row and file row after which to go on, limit. */
export const NEXT_ORDERED_ROWS = `/* next-ordered-rows */
SELECT o.first_row, o.file_row, r.raw_row
FROM (
  SELECT first_row, file_row FROM batch_row_order
  WHERE batch_id = $1 AND (first_row, file_row) > ($2, $3)
  ORDER BY first_row, file_row LIMIT $4
) o JOIN batch_row r ON r.batch_id = $1 AND r.file_row = o.file_row
ORDER BY o.first_row, o.file_row`;
