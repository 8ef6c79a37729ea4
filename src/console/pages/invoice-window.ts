import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice, BatchLedger } from '../../domain/ports/ledger.ts';

/** Invoices that one page of a list shows. */
export const WINDOW_SIZE = 100;

export interface WindowQuestion {
  readonly batchId: string;
  readonly states: ReadonlySet<Outcome>;
  /** From 1. */
  readonly page: number;
}

/** One page of the batch's invoices in the given states, in the order of the file; reading stops where the page ends. */
export async function invoiceWindow(
  ledger: Pick<BatchLedger, 'batchInvoices'>,
  { batchId, states, page }: WindowQuestion,
): Promise<readonly BatchInvoice[]> {
  const first = (page - 1) * WINDOW_SIZE;
  const found: BatchInvoice[] = [];
  let passed = 0;
  for await (const portion of ledger.batchInvoices(batchId)) {
    for (const invoice of portion) {
      if (!states.has(invoice.state)) continue;
      if (passed >= first) found.push(invoice);
      passed += 1;
      if (found.length === WINDOW_SIZE) return found;
    }
  }
  return found;
}
