import { type Outcome, UNTROUBLED_OUTCOMES } from '../../domain/invoice-state.ts';
import type { OperatingLedger, ReopenBatch, ReopenResult } from '../../domain/ports/ledger/operating-ledger.ts';
import { BATCH_COLUMNS, type BatchRow } from '../batches/batch-columns-sql.ts';
import { BATCH_INVOICE_TABLES } from '../batches/batch-invoices-sql.ts';
import { batchRecord, foundBatch } from '../batches/batch-record.ts';
import { roundLost } from '../batches/claim-proof.ts';
import { requireLatestAttempt } from '../batches/claiming.ts';
import { LOCK_BATCH } from '../batches/find-batch-sql.ts';
import { HOLD_CLAIM } from '../batches/hold-claim-sql.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { stateList } from '../database/states.ts';
import { noteActions, readAudit } from './audit.ts';
import { retryInvoices } from './retrying.ts';

interface ProblemGroupRow {
  readonly state: string;
  readonly code: string;
  readonly invoices: number;
  readonly file_rows: readonly number[];
}

/**
 * batchId, how many rows of each group, how many groups. What is not confirmed as issued and is at rest, by state and reason; of an invalid invoice
 * the first finding is the reason.
 */
const PROBLEM_GROUPS = `/* problem-groups */
SELECT state, code, count(*) AS invoices, 
  coalesce(array_agg(file_row ORDER BY ordinal) FILTER (WHERE place <= $2::integer), '{}') AS file_rows
FROM (
  SELECT state, code, ordinal, file_row, row_number() OVER (PARTITION BY state, code ORDER BY ordinal) AS place
  FROM (
    SELECT coalesce(bi.outcome, i.state) AS state, bi.ordinal, bi.file_rows[1] AS file_row,
      coalesce(bi.reason_code, CASE WHEN bi.generation IS NULL THEN i.reason_code ELSE g.reason_code END,
        (SELECT f.value ->> 'code' FROM json_array_elements(bi.findings::json) f WHERE f.value ->> 'severity' = 'error' LIMIT 1),
        'no-reason') AS code
    FROM ${BATCH_INVOICE_TABLES}
    WHERE bi.batch_id = $1
      AND coalesce(bi.outcome, i.state) NOT IN ${stateList(UNTROUBLED_OUTCOMES)}
  ) problem
) ranked
GROUP BY state, code
ORDER BY invoices DESC, state, code
LIMIT $3`;

/**
 * batchId, fencing token of the round before, attempt, 1 when an operator has asked for the round. No row when another run has claimed the batch, a
 * later round has begun, or a later attempt has begun this one.
 */
const BEGIN_ROUND = `/* begin-round */
UPDATE batch SET fencing_token = fencing_token + 1, raised_from = $2, raised_attempt = $3, repeats = CASE WHEN $4::integer = 1 THEN 0 ELSE repeats END
WHERE batch_id = $1 AND (fencing_token = $2 OR (raised_from = $2 AND raised_attempt < $3))
RETURNING ${BATCH_COLUMNS}`;

/** batchId, references. */
const ROWS_OF_REFS = `/* rows-of-refs */
SELECT invoice_ref AS ref, file_rows FROM batch_invoice
WHERE batch_id = $1 AND invoice_ref = ANY($2::text[])
ORDER BY ordinal`;

/** What happens after a batch, or beside it, by somebody's word. */
export function createOperating(database: Database, keyOf: KeyOf): OperatingLedger {
  return {
    reopenBatch: (reopen) => reopenBatch(database, reopen),
    beginRound: ({ batchId, attempt, fencingToken, isOrdered = false }) =>
      database.transaction(async (queries) => {
        const [begun] = await queries.query<BatchRow>(BEGIN_ROUND, [batchId, fencingToken, attempt, isOrdered ? 1 : 0]);
        if (begun !== undefined) return batchRecord(begun);
        const [row] = await queries.query<BatchRow>(LOCK_BATCH, [batchId]);
        throw roundLost({ batchId, fencingToken }, foundBatch(batchId, row));
      }),

    retryInvoices: (request) => retryInvoices(database, keyOf, request),

    async rowsOfRefs(batchId, refs) {
      const rows = await database.query<{ ref: string; file_rows: readonly number[] }>(ROWS_OF_REFS, [
        batchId,
        arrayLiteral(refs),
      ]);
      return rows.map((row) => ({ ref: row.ref, rows: row.file_rows }));
    },

    noteActions: (batchId, actions) => noteActions(database, batchId, actions),

    async problemGroups(batchId, { groups, rows }) {
      const found = await database.query<ProblemGroupRow>(PROBLEM_GROUPS, [batchId, rows, groups]);
      return found.map(({ state, code, invoices, file_rows }) => ({
        state: state as Outcome,
        code,
        invoices,
        rows: file_rows,
      }));
    },

    auditOf: (batchId) => readAudit(database, batchId),
  };
}

/** The claim of a file, but for a batch that is known: one locked row, one decision. */
async function reopenBatch(database: Database, reopen: ReopenBatch): Promise<ReopenResult> {
  return database.transaction(async (queries) => {
    const [row] = await queries.query<BatchRow>(LOCK_BATCH, [reopen.batchId]);
    const batch = foundBatch(reopen.batchId, row);
    if (batch.state === 'staging' || batch.state === 'refused') return { kind: 'nothing' };
    const open = batch.state === 'running' || batch.state === 'paused';
    const mine = batch.workflowId === reopen.workflowId && batch.runId === reopen.runId;
    if (open && !mine && !reopen.takeOver) return { kind: 'owned', workflowId: batch.workflowId, runId: batch.runId };
    const state = open ? batch.state : 'running';
    if (row !== undefined) requireLatestAttempt(reopen, row);
    const { workflowId, runId, attempt, temporalId = null } = reopen;
    const holder = [batch.batchId, workflowId, runId, state, attempt, temporalId];
    const [held] = await queries.query<BatchRow>(HOLD_CLAIM, holder);
    return { kind: 'reopened', batch: held === undefined ? batch : batchRecord(held) };
  });
}
