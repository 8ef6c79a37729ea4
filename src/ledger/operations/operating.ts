import type { OperatingLedger, ReopenBatch, ReopenResult } from '../../domain/ports/operating-ledger.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { noteActions, readAudit } from './audit.ts';
import { batchRecord, foundBatch } from '../batches/batch-record.ts';
import { claimLost } from '../batches/claim-proof.ts';
import { requireLatestAttempt } from '../batches/claiming.ts';
import type { Database } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { retryInvoices } from './retrying.ts';
import { arrayLiteral } from '../database/array-literal.ts';
import type { BatchRow } from '../batches/batch-columns-sql.ts';
import { BEGIN_ROUND } from './begin-round-sql.ts';
import { LOCK_BATCH } from '../batches/find-batch-sql.ts';
import { PROBLEM_GROUPS, type ProblemGroupRow } from './problem-groups-sql.ts';
import { HOLD_CLAIM } from '../batches/hold-claim-sql.ts';
import { ROWS_OF_REFS } from './rows-of-refs-sql.ts';

/** What happens after a batch, or beside it, by somebody's word. */
export function createOperating(database: Database, keyOf: KeyOf): OperatingLedger {
  return {
    reopenBatch: (reopen) => reopenBatch(database, reopen),
    beginRound: ({ batchId, attempt, fencingToken }) =>
      database.transaction(async (queries) => {
        const [begun] = await queries.query<BatchRow>(BEGIN_ROUND, [batchId, fencingToken, attempt]);
        if (begun !== undefined) return batchRecord(begun);
        const [row] = await queries.query<BatchRow>(LOCK_BATCH, [batchId]);
        const found = foundBatch(batchId, row).fencingToken;
        throw claimLost({ batchId, fencingToken }, `the ledger has token ${found}`);
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
    const holder = [batch.batchId, reopen.workflowId, reopen.runId, state, reopen.attempt];
    const [held] = await queries.query<BatchRow>(HOLD_CLAIM, holder);
    return { kind: 'reopened', batch: held === undefined ? batch : batchRecord(held) };
  });
}
