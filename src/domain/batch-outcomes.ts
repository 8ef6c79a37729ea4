import { differingTotals } from './control-totals.ts';
import type { Finding } from './invoice.ts';
import type { BatchRecord, OutcomeCount } from './ports/ledger/batch-record.ts';
import type { Ledger } from './ports/ledger/ledger.ts';
import { lostRows } from './row.ts';

/** The balance of a batch: from its last report where that tells it, counted else. */
export async function batchOutcomes(
  ledger: Pick<Ledger, 'reportedOutcomes' | 'countOutcomes'>,
  batchId: string,
): Promise<readonly OutcomeCount[]> {
  return (await ledger.reportedOutcomes(batchId)) ?? ledger.countOutcomes(batchId);
}

/** What may be wrong with a file although each of its invoices is issued. */
export interface FileShortfall {
  /** Rows that are in no invoice and are no totals rows. */
  readonly rowsLost: number;
  /** How it differs from the control totals that were declared for it; null: it does not, or was let go. */
  readonly totalsDiffer: string | null;
}

/** Each of these batches with what may be wrong with its file, in their order. One question to the ledger, and none for no batch. */
export async function withShortfalls<Batch extends Pick<BatchRecord, 'batchId' | 'rowsWithoutInvoice'>>(
  ledger: Pick<Ledger, 'decidingFindings'>,
  batches: readonly Batch[],
): Promise<readonly { readonly batch: Batch; readonly shortfall: FileShortfall }[]> {
  if (batches.length === 0) return [];
  const found = await ledger.decidingFindings(batches.map(({ batchId }) => batchId));
  return batches.map((batch) => ({ batch, shortfall: shortfallOf(batch, found.get(batch.batchId) ?? []) }));
}

/** What the findings of a file, or those of them that decide it, say may be wrong with it. */
export function shortfallOf(
  { rowsWithoutInvoice }: Pick<BatchRecord, 'rowsWithoutInvoice'>,
  findings: readonly Finding[],
): FileShortfall {
  return { rowsLost: lostRows(rowsWithoutInvoice, findings), totalsDiffer: differingTotals(findings) };
}
