import { LoteError } from '../../domain/errors.ts';
import type { BatchRecord, BatchState } from '../../domain/ports/ledger/batch-record.ts';
import type { BatchRow } from './batch-columns-sql.ts';

/** A batch in the words of the port. */
export function batchRecord(row: BatchRow): BatchRecord {
  return {
    batchId: row.batch_id,
    application: row.application,
    file: row.file,
    sha256: row.sha256,
    state: row.state as BatchState,
    workflowId: row.workflow_id,
    runId: row.run_id,
    temporalId: row.temporal_id,
    pageSize: row.page_size,
    pages: row.pages,
    rows: row.row_count,
    rowsWithoutInvoice: row.rows_without_invoice,
    invoices: row.invoices,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    revision: row.revision,
    fencingToken: row.fencing_token,
    proof: JSON.parse(row.proof) as Readonly<Record<string, unknown>>,
  };
}

/** @throws LoteError `batch-not-found` when there is none. */
export function foundBatch(batchId: string, row: BatchRow | undefined): BatchRecord {
  if (row !== undefined) return batchRecord(row);
  throw new LoteError('batch-not-found', `The ledger has no batch "${batchId}"; lote status lists those it has`);
}
