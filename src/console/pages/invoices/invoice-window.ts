import type { Outcome } from '../../../domain/invoice-state.ts';
import type { BatchLedger } from '../../../domain/ports/ledger/batch-ledger.ts';
import type { BatchInvoice } from '../../../domain/ports/ledger/batch-record.ts';

/** Invoices that one page of a list shows: with a long reason beside each, the page stays below 100 kB. */
export const WINDOW_SIZE = 50;
/** Invoices that are handed out as one table: a workbook is made in memory. The report's files have all. */
export const MOST_SAVED = 20_000;

/** Invoices of one question: a longer one would keep the one thread of an embedded ledger. */
const PORTION = 1_000;

export interface WindowQuestion {
  readonly batchId: string;
  readonly states: ReadonlySet<Outcome>;
  /** From 1. */
  readonly page: number;
  /** Invoices of one page; default `WINDOW_SIZE`. */
  readonly size?: number;
}

/** One page of the batch's invoices in the given states, in the order of the file. */
export async function invoiceWindow(
  ledger: Pick<BatchLedger, 'invoicesWith'>,
  { batchId, states, page, size = WINDOW_SIZE }: WindowQuestion,
): Promise<readonly BatchInvoice[]> {
  const found: BatchInvoice[] = [];
  for (let after = 0, skip = (page - 1) * size; ; skip = 0) {
    const limit = Math.min(PORTION, size - found.length);
    const portion = await ledger.invoicesWith(batchId, { outcomes: states, after, skip, limit });
    found.push(...portion);
    const last = portion.at(-1);
    if (last === undefined || portion.length < limit || found.length === size) return found;
    after = last.ordinal;
  }
}
