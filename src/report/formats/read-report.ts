import { LoteError } from '../../domain/errors.ts';
import type { Ledger } from '../../domain/ports/ledger/ledger.ts';
import { buildReport } from '../build-report.ts';
import { createSpool, type InvoiceSpool } from '../invoice-spool.ts';
import { NO_HISTORY, type ReportHistory } from '../report-history.ts';
import type { ProfileMisfit } from '../../domain/profile-misfit.ts';
import type { ReportModel, ReportOrigin } from '../report-model.ts';
import type { ReportNote } from '../report-note.ts';

/** A late webhook may move an invoice of a closed batch between counting and reading; one that differs each time is a fault. */
const READINGS = 3;

/** The methods of the ledger that writing a report needs. */
export type ReportLedger = Pick<
  Ledger,
  'findBatch' | 'countOutcomes' | 'fileFindings' | 'batchInvoices' | 'nextRevision' | 'sinceReport'
>;

export interface ReportQuestion {
  readonly ledger: ReportLedger;
  readonly batchId: string;
  /** For the reader, e.g. that webhooks are not registered. */
  readonly notes?: readonly ReportNote[];
  readonly misfits?: readonly ProfileMisfit[];
  readonly history?: ReportHistory;
  readonly origin?: ReportOrigin;
  /** Taken before anything is read: what a higher one says was read later. */
  readonly revision: number;
  readonly now: number;
}

/**
 * One balanced reading of a batch: the model, and the invoices it was made of.
 * @throws LoteError `batch-not-found`, `report-unbalanced`, `ledger-unavailable`
 */
export async function readReport(
  question: ReportQuestion,
  spoolPath: string,
): Promise<{ model: ReportModel; spool: InvoiceSpool }> {
  for (let reading = 1; ; reading += 1) {
    try {
      // A new one for each reading: one that was not balanced must leave nothing behind.
      const spool = createSpool(spoolPath);
      return { model: await readOnce(question, spool), spool };
    } catch (error) {
      const unbalanced = error instanceof LoteError && error.code === 'report-unbalanced';
      if (!unbalanced || reading === READINGS) throw error;
    }
  }
}

async function readOnce(
  { ledger, batchId, notes, misfits, history, origin, revision, now }: ReportQuestion,
  spool: InvoiceSpool,
): Promise<ReportModel> {
  const batch = await ledger.findBatch(batchId);
  if (batch === null) {
    throw new LoteError(
      'batch-not-found',
      `Writing the report of batch ${batchId}: the ledger must know the batch, found none. "lote status" lists the batches it knows.`,
    );
  }
  return buildReport({
    batch,
    counts: () => ledger.countOutcomes(batchId),
    invoices: spool.fill(ledger.batchInvoices(batchId)),
    findings: await ledger.fileFindings(batchId),
    revision,
    notes: notes ?? [],
    misfits: misfits ?? [],
    history: history ?? NO_HISTORY,
    ...(origin === undefined ? {} : { origin }),
    now,
  });
}
