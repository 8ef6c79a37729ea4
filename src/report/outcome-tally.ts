import type { Contradiction, Outcome } from '../domain/invoice-state.ts';
import { sumDecimals } from '../domain/money.ts';
import {
  type BatchInvoice,
  type Contradicted,
  MOST_CONTRADICTED,
  type OutcomeCount,
} from '../domain/records/batch-record.ts';

/** Counts and exact amounts by outcome and currency. */
export interface OutcomeTally {
  add(portion: readonly BatchInvoice[]): void;
  counts(): readonly OutcomeCount[];
}

interface Cell {
  readonly outcome: Outcome;
  readonly currency: string | null;
  invoices: number;
  net: string;
  withoutAmount: number;
  /** Amounts not yet in `net`: summed once a portion, because each exact addition makes a new number. */
  waiting: string[];
}

/** An empty tally. Sums are exact decimals; an invoice without a net amount is counted in `withoutAmount`. */
export function createOutcomeTally(): OutcomeTally {
  const cells = new Map<string, Cell>();

  function cellOf(outcome: Outcome, currency: string | null): Cell {
    const key = JSON.stringify([outcome, currency]);
    const known = cells.get(key);
    if (known !== undefined) return known;
    const cell: Cell = { outcome, currency, invoices: 0, net: '0', withoutAmount: 0, waiting: [] };
    cells.set(key, cell);
    return cell;
  }

  return {
    add(portion) {
      for (const { state, currency, net } of portion) {
        const cell = cellOf(state, currency);
        cell.invoices += 1;
        if (net === null) cell.withoutAmount += 1;
        else cell.waiting.push(net);
      }
      for (const cell of cells.values()) {
        cell.net = sumDecimals([cell.net, ...cell.waiting]);
        cell.waiting = [];
      }
    },
    counts() {
      return [...cells.values()].map(({ outcome, currency, invoices, net, withoutAmount }) => ({
        outcome,
        currency,
        invoices,
        net,
        withoutAmount,
      }));
    },
  };
}

/** Whether an invoice went out and is in doubt. */
export function isContradicted(
  invoice: BatchInvoice,
): invoice is BatchInvoice & { readonly contradictions: readonly Contradiction[] } {
  return invoice.contradictions !== undefined && invoice.contradictions.length > 0;
}

/** Counts the invoices in doubt, and keeps the references of the first of them. */
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
