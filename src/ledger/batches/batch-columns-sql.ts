/** A batch as every statement about batches returns it. */
export interface BatchRow {
  readonly batch_id: string;
  readonly application: string;
  readonly file: string;
  readonly sha256: string;
  readonly state: string;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly temporal_id: string | null;
  readonly page_size: number;
  readonly pages: number;
  readonly row_count: number;
  readonly rows_without_invoice: number;
  readonly invoices: number;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly revision: number;
  readonly proof: string;
  readonly fencing_token: number;
  readonly raised_from: number | null;
  readonly raised_attempt: number;
}

/** Columns of the table `batch` that make a `BatchRow`. */
export const BATCH_COLUMNS = `batch_id, application, file, sha256, state, workflow_id, run_id, temporal_id, page_size, pages, row_count,
  rows_without_invoice, invoices, started_at, finished_at, revision, proof, fencing_token, raised_from, raised_attempt`;
