import type { Contradiction } from '../domain/invoice-state.ts';
import { sumDecimals } from '../domain/money.ts';
import {
  type BatchInvoice,
  type Contradicted,
  MOST_CONTRADICTED,
  type OutcomeCount,
} from '../domain/records/batch-record.ts';

interface Cell extends Pick<OutcomeCount, 'outcome' | 'currency'> {
  invoices: number;
  net: string;
  withoutAmount: number;
  /** Amounts that `net` lacks so far. They are summed once per portion, because each exact addition makes a new number. */
  waiting: string[];
}

/** Creates an empty tally. Sums are exact decimals; `withoutAmount` counts invoices without a net amount. */
export function createOutcomeTally() {
  const cells = new Map<string, Cell>();

  return {
    add(portion: readonly BatchInvoice[]): void {
      for (const { state, currency, net } of portion) {
        const key = JSON.stringify([state, currency]);
        const fresh = { outcome: state, currency, invoices: 0, net: '0', withoutAmount: 0, waiting: [] };
        const cell: Cell = cells.get(key) ?? fresh;
        cells.set(key, cell);
        cell.invoices += 1;
        if (net === null) cell.withoutAmount += 1;
        else cell.waiting.push(net);
      }
      for (const cell of cells.values()) {
        cell.net = sumDecimals([cell.net, ...cell.waiting]);
        cell.waiting = [];
      }
    },
    counts: (): readonly OutcomeCount[] =>
      [...cells.values()].map((cell) => {
        const { waiting: _, ...count } = cell;
        return count;
      }),
  };
}

/** True if an invoice is issued and in doubt. */
export function isContradicted(
  invoice: BatchInvoice,
): invoice is BatchInvoice & { readonly contradictions: readonly Contradiction[] } {
  return invoice.contradictions !== undefined && invoice.contradictions.length > 0;
}

/** Counts the invoices in doubt and keeps the first references. */
export function createContradictedTally() {
  const refs: string[] = [];
  let invoices = 0;
  return {
    add(invoice: BatchInvoice): void {
      if (!isContradicted(invoice)) return;
      invoices += 1;
      if (refs.length < MOST_CONTRADICTED) refs.push(invoice.ref);
    },
    list: (): Contradicted => ({ invoices, refs }),
  };
}
