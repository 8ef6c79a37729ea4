import type { SendingLedger } from '../../domain/ports/ledger/sending-ledger.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { invoicesOfBatch } from '../batches/page-of-sql.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';

const NOT_ISSUED = `i.owner_batch = $1 AND i.state IN ('staged', 'held', 'sending', 'unknown')`;

/** batchId, reason code, reason message, now, first rows. As `close-batch`: what may have left is `unknown`. */
const HOLD_DOUBTFUL = `/* hold-doubtful */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(`bi.file_rows[1] IN (SELECT unnest($5::integer[])) AND ${NOT_ISSUED}`)}) AND ${NOT_ISSUED}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE WHEN i.state IN ('staged', 'held') OR (i.state = 'sending' AND i.exposure = 'none') THEN 'held' ELSE 'unknown' END,
  reason_code = $2, reason_message = $3, changed_at = $4,
  flags = array_remove(i.flags, '${OLDER_LEDGER}') || '{${OLDER_LEDGER}}'::text[]
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${NOT_ISSUED}
RETURNING i.invoice_id`;

/** See `SendingLedger.holdDoubtful`. */
export async function holdDoubtful(
  database: Database,
  ...[{ batchId, fencingToken }, { firstRows, reason, now }]: Parameters<SendingLedger['holdDoubtful']>
): Promise<number> {
  return database.transaction(async (queries) => {
    await shareUnderToken(queries, batchId, fencingToken);
    const params = [batchId, reason.code, reason.message, now, arrayLiteral(firstRows)];
    return (await queries.query(HOLD_DOUBTFUL, params)).length;
  });
}
