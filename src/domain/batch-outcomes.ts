import { differingTotals } from './control-totals.ts';
import type { Finding } from './invoice.ts';
import { lostRows } from './row.ts';
import type { BatchRecord, Contradicted, OutcomeCount } from './records/batch-record.ts';

/** The part of the ledger that counts the outcomes of a batch. */
export interface OutcomesOf {
  reportedOutcomes(batchId: string): Promise<readonly OutcomeCount[] | null>;
  countOutcomes(batchId: string): Promise<readonly OutcomeCount[]>;
}

interface ShortfallsOf {
  decidingFindings(batchIds: readonly string[]): Promise<ReadonlyMap<string, readonly Finding[]>>;
  contradictedInvoices(batchIds: readonly string[]): Promise<ReadonlyMap<string, Contradicted>>;
}

/** Returns the outcome counts of a batch from its last report, or counts them in the ledger if the report lacks them. */
export async function batchOutcomes(ledger: OutcomesOf, batchId: string): Promise<readonly OutcomeCount[]> {
  return (await ledger.reportedOutcomes(batchId)) ?? ledger.countOutcomes(batchId);
}

/** Possible faults of a file even if each of its invoices is issued. */
export interface FileShortfall {
  /** Rows that belong to no invoice and are not totals rows. */
  readonly rowsLost: number;
  /** How the file differs from its declared control totals; null if it does not or a person overruled the difference. */
  readonly totalsDiffer: string | null;
  /** Issued invoices in doubt: they may exist twice or have failed. */
  readonly contradicted: number;
  /** References of the first invoices in doubt. */
  readonly contradictedRefs: readonly string[];
}

/** Returns the batches in the same order, each with its shortfall. Asks the ledger two questions, or none without batches. */
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

/** Returns what may be wrong with a file. `findings` are all of its findings, or only those that decide this. */
export function shortfallOf(
  { rowsWithoutInvoice }: Pick<BatchRecord, 'rowsWithoutInvoice'>,
  findings: readonly Finding[],
  { invoices: contradicted, refs: contradictedRefs }: Contradicted = { invoices: 0, refs: [] },
): FileShortfall {
  const rowsLost = lostRows(rowsWithoutInvoice, findings);
  return { rowsLost, totalsDiffer: differingTotals(findings), contradicted, contradictedRefs };
}
