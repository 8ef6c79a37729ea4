import type { Outcome } from '../domain/invoice-state.ts';
import { sumDecimals } from '../domain/money.ts';
import type { OutcomeCount } from '../domain/ports/ledger/batch-record.ts';
import type { CurrencyTotal } from './report-model.ts';

/** Totals by currency, in alphabetical order; the unreadable currency last. */
export function currencyTotals(counts: readonly OutcomeCount[]): readonly CurrencyTotal[] {
  const currencies = [...new Set(counts.map(({ currency }) => currency))].sort(compareCurrencies);
  return currencies.map((currency) =>
    totalOf(
      currency,
      counts.filter((count) => count.currency === currency),
    ),
  );
}

function totalOf(currency: string | null, counts: readonly OutcomeCount[]): CurrencyTotal {
  const byState: Partial<Record<Outcome, string>> = {};
  for (const { outcome, net } of counts) byState[outcome] = sumDecimals([byState[outcome] ?? '0', net]);
  return {
    currency,
    invoices: counts.reduce((sum, { invoices }) => sum + invoices, 0),
    net: sumDecimals(counts.map(({ net }) => net)),
    withoutAmount: counts.reduce((sum, { withoutAmount }) => sum + withoutAmount, 0),
    byState,
  };
}

function compareCurrencies(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -1 : 1;
}
