import type { Outcome } from '../../domain/invoice-state.ts';
import type { BatchInvoice, BatchLedger } from '../../domain/ports/ledger.ts';

/** Invoices that one page of a list shows. */
export const WINDOW_SIZE = 100;
/** Invoices that are handed out as one table: a workbook is made in memory. The report's files have all. */
export const MOST_SAVED = 20_000;

export interface WindowQuestion {
  readonly batchId: string;
  readonly states: ReadonlySet<Outcome>;
  /** From 1. */
  readonly page: number;
  /** Invoices of one page; default `WINDOW_SIZE`. */
  readonly size?: number;
}

/** One page of the batch's invoices in the given states, in the order of the file; reading stops where the page ends. */
export async function invoiceWindow(
  ledger: Pick<BatchLedger, 'batchInvoices'>,
  { batchId, states, page, size = WINDOW_SIZE }: WindowQuestion,
): Promise<readonly BatchInvoice[]> {
  const first = (page - 1) * size;
  const found: BatchInvoice[] = [];
  let passed = 0;
  for await (const portion of ledger.batchInvoices(batchId)) {
    for (const invoice of portion) {
      if (!states.has(invoice.state)) continue;
      if (passed >= first) found.push(invoice);
      passed += 1;
      if (found.length === size) return found;
    }
  }
  return found;
}
