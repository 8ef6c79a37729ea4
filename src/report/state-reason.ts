import { LoteError } from '../domain/errors.ts';
import type { Reason } from '../domain/invoice.ts';
import { wentOut, type Outcome } from '../domain/invoice-state.ts';
import type { BatchInvoice } from '../domain/records/batch-record.ts';

/** While Lote still works on an invoice, the ledger has nothing to explain; the reader of a report wants a word all the same. */
const WORK_IN_PROGRESS: Partial<Record<Outcome, Reason>> = {
  staged: { code: 'waiting-to-be-sent', message: 'Not sent yet.' },
  sending: { code: 'being-sent', message: 'Being sent; no answer is recorded yet.' },
  accepted: {
    code: 'waiting-for-final-word',
    message: 'The service accepted it and has not said yet whether it was issued.',
  },
};

/**
 * Why an invoice is in its state; null only for one that was issued.
 * @throws LoteError `report-unbalanced` when a state that needs a reason has none.
 */
export function reasonOf(invoice: BatchInvoice): Reason | null {
  if (wentOut(invoice.state)) return null;
  if (invoice.reason !== null) return invoice.reason;
  const finding = invoice.findings.find(({ severity }) => severity === 'error');
  if (finding !== undefined) return { code: finding.code, message: finding.message };
  const inProgress = WORK_IN_PROGRESS[invoice.state];
  if (inProgress !== undefined) return inProgress;
  throw new LoteError(
    'report-unbalanced',
    `Building the report: every state but issued and already-issued must have a reason, found none for invoice ${invoice.ordinal} of the batch, state ${invoice.state}.`,
  );
}
