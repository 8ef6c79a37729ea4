import { LoteError } from '../../domain/errors.ts';
import type { Finding } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice } from '../../domain/ports/ledger.ts';
import { reasonOf } from '../reason-of.ts';

/** What Lote says beside each record that it hands back. */
export interface Correction {
  readonly state: Outcome;
  readonly reason: string;
  /** False for a bad row that could not be taken for an invoice's. */
  readonly ofInvoice: boolean;
}

/** Which rows of the original file the corrections file gets, with state and reason of each. */
export interface CorrectionsPlan {
  readonly byRow: ReadonlyMap<number, Correction>;
  /** Rows that belong to an invoice: each of them must be found in the file again. */
  readonly invoiceRows: number;
}

const CORRECTABLE = new Set<Outcome>(['invalid', 'rejected', 'failed', 'conflict']);

/**
 * True for an invoice that a better file can help. Never one that may be alive at the service: `unknown`, `unsettled` and
 * `accepted` are settled by asking the service, and a corrected copy of them could be issued twice.
 */
export function isCorrectable({ state, reason }: Pick<BatchInvoice, 'state' | 'reason'>): boolean {
  return CORRECTABLE.has(state) || (state === 'held' && reason?.code === 'merchant-details-missing');
}

/** Rows to hand back: every row of each invoice that needs correction, and bad rows that could not be taken for one. */
export async function planCorrections(
  invoices: AsyncIterable<readonly BatchInvoice[]>,
  fileFindings: readonly Finding[],
): Promise<CorrectionsPlan> {
  const plan = new Map<number, Correction>();
  let invoiceRows = 0;
  for (const { row, severity, code, message } of fileFindings) {
    if (row === null || severity !== 'error') continue;
    const before = plan.get(row);
    const reason = before === undefined ? `${code}: ${message}` : `${before.reason}; ${code}: ${message}`;
    plan.set(row, { state: 'invalid', reason, ofInvoice: false });
  }
  for await (const portion of invoices) {
    for (const invoice of portion.filter(isCorrectable)) {
      // One object for all rows of the invoice: a file in which every row is wrong must still fit in memory.
      const correction = { state: invoice.state, reason: reasonText(invoice), ofInvoice: true };
      for (const row of invoice.rows) plan.set(row, correction);
      invoiceRows += invoice.rows.length;
    }
  }
  return { byRow: plan, invoiceRows };
}

/**
 * @throws LoteError `file-changed` when rows that must be handed back are not in the file any more: half an invoice in
 * the corrections would be issued as a whole one.
 */
export function checkAllFound(plan: CorrectionsPlan, found: number): void {
  if (found === plan.invoiceRows) return;
  throw new LoteError(
    'file-changed',
    `Writing the corrections: each of the ${plan.invoiceRows} rows to hand back must be in the original file, found ${found}. The file was changed since it was read.`,
  );
}

function reasonText(invoice: BatchInvoice): string {
  const errors = invoice.findings.filter(({ severity }) => severity === 'error');
  if (invoice.state === 'invalid' && errors.length > 0)
    return errors.map(({ code, message }) => `${code}: ${message}`).join('; ');
  const reason = reasonOf(invoice);
  return reason === null ? '' : `${reason.code}: ${reason.message}`;
}
