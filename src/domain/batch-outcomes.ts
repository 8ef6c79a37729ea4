import { differingTotals } from './control-totals.ts';
import type { Finding } from './invoice.ts';
import { lostRows } from './row.ts';
import type { BatchRecord, Contradicted, OutcomeCount } from './records/batch-record.ts';

/** Where a batch's outcomes are counted. */
export interface OutcomesOf {
  reportedOutcomes(batchId: string): Promise<readonly OutcomeCount[] | null>;
  countOutcomes(batchId: string): Promise<readonly OutcomeCount[]>;
}

interface ShortfallsOf {
  decidingFindings(batchIds: readonly string[]): Promise<ReadonlyMap<string, readonly Finding[]>>;
  contradictedInvoices(batchIds: readonly string[]): Promise<ReadonlyMap<string, Contradicted>>;
}

/** The balance of a batch: from its last report where that tells it, counted else. */
export async function batchOutcomes(ledger: OutcomesOf, batchId: string): Promise<readonly OutcomeCount[]> {
  return (await ledger.reportedOutcomes(batchId)) ?? ledger.countOutcomes(batchId);
}

/** What may be wrong with a file although each of its invoices is issued. */
export interface FileShortfall {
  /** Rows that are in no invoice and are no totals rows. */
  readonly rowsLost: number;
  /** How it differs from the control totals that were declared for it; null: it does not, or was let go. */
  readonly totalsDiffer: string | null;
  /** Invoices that went out and are in doubt: they may exist twice, or have failed. */
  readonly contradicted: number;
  /** References of the first of them. */
  readonly contradictedRefs: readonly string[];
}

/** Each of these batches with what may be wrong with its file, in their order. Two questions to the ledger, and none for no batch. */
export async function withShortfalls<Batch extends Pick<BatchRecord, 'batchId' | 'rowsWithoutInvoice'>>(
  ledger: ShortfallsOf,
  batches: readonly Batch[],
): Promise<readonly { readonly batch: Batch; readonly shortfall: FileShortfall }[]> {
  if (batches.length === 0) return [];
  const ids = batches.map(({ batchId }) => batchId);
  const found = await ledger.decidingFindings(ids);
  const contradicted = await ledger.contradictedInvoices(ids);
  return batches.map((batch) => {
    const { batchId } = batch;
    return { batch, shortfall: shortfallOf(batch, found.get(batchId) ?? [], contradicted.get(batchId)) };
  });
}

/** What the findings of a file, or those of them that decide it, and its invoices in doubt say may be wrong with it. */
export function shortfallOf(
  { rowsWithoutInvoice }: Pick<BatchRecord, 'rowsWithoutInvoice'>,
  findings: readonly Finding[],
  { invoices: contradicted, refs: contradictedRefs }: Contradicted = { invoices: 0, refs: [] },
): FileShortfall {
  const rowsLost = lostRows(rowsWithoutInvoice, findings);
  return { rowsLost, totalsDiffer: differingTotals(findings), contradicted, contradictedRefs };
}
