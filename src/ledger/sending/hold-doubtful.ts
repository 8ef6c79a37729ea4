import type { SendingLedger, SentAgain } from '../../domain/ports/ledger/sending-ledger.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { invoicesOfBatch } from '../batches/page-of-sql.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { FLAGS_WITHOUT_OLDER_LEDGER } from '../settling/other-document-sql.ts';

const NOT_ISSUED = `i.owner_batch = $1 AND i.state IN ('staged', 'held', 'sending', 'unknown')`;

/** $2: reason code. Each slice of the batch asks for it anew. */
const IS_HELD = `i.state IN ('held', 'unknown') AND i.reason_code = $2 AND i.flags @> '{${OLDER_LEDGER}}'`;

/** $1: batchId; $6: time. */
const RISK_ACCEPTED = `EXISTS (
    SELECT 1 FROM audit a JOIN audit_invoice ai ON ai.action_id = a.action_id
    WHERE a.batch_id = $1 AND a.accepted_duplicate_risk AND a.at > $6 AND ai.invoice_id = i.invoice_id
  )`;

/** batchId, reason code, reason message, now, first rows, time after which an accepted risk counts, the first generation that is in no doubt. As `close-batch`: what may have left is `unknown`. */
const HOLD_DOUBTFUL = `/* hold-doubtful */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(`bi.file_rows[1] IN (SELECT unnest($5::integer[])) AND i.generation < $7 AND ${NOT_ISSUED}`)}) AND ${NOT_ISSUED}
    AND (${IS_HELD}) IS NOT TRUE AND NOT ${RISK_ACCEPTED}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE WHEN i.state IN ('staged', 'held') OR (i.state = 'sending' AND i.exposure = 'none') THEN 'held' ELSE 'unknown' END,
  reason_code = $2, reason_message = $3, changed_at = $4,
  flags = ${FLAGS_WITHOUT_OLDER_LEDGER} || '{${OLDER_LEDGER}}'::text[]
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${NOT_ISSUED}
RETURNING i.invoice_id`;

/** The largest integer of the database: whatever generation the ledger has, it is an earlier one. */
const ANY_GENERATION = 2_147_483_647;

/** See `SendingLedger.holdDoubtful`. */
export async function holdDoubtful(
  database: Database,
  ...[{ batchId, fencingToken }, { firstRows, sentAgain, acceptedAfter, reason, now }]: Parameters<
    SendingLedger['holdDoubtful']
  >
): Promise<number> {
  return database.transaction(async (queries) => {
    await shareUnderToken(queries, batchId, fencingToken);
    let held = 0;
    for (const [generation, doubtful] of doubtfulRows(firstRows, sentAgain)) {
      const params = [batchId, reason.code, reason.message, now, arrayLiteral(doubtful), acceptedAfter, generation];
      // oxlint-disable-next-line no-await-in-loop -- one transaction
      const rows = await queries.query(HOLD_DOUBTFUL, params);
      held += rows.length;
    }
    return held;
  });
}

/** Rows by the first generation that is in no doubt; there are few of those. */
function doubtfulRows(
  firstRows: readonly number[],
  sentAgain: readonly SentAgain[],
): ReadonlyMap<number, readonly number[]> {
  const rows = new Map<number, number[]>(firstRows.length === 0 ? [] : [[ANY_GENERATION, [...firstRows]]]);
  for (const { firstRow, generation } of sentAgain) {
    const same = rows.get(generation);
    if (same === undefined) rows.set(generation, [firstRow]);
    else same.push(firstRow);
  }
  return rows;
}
