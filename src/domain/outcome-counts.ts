import { ISSUED_OUTCOMES, OPEN_STATES, OUTCOMES, type Outcome } from './invoice-state.ts';
import { sumDecimals } from './money.ts';
import type { BatchResult } from './messages/messages.ts';
import type { OutcomeCount } from './records/batch-record.ts';

const OPEN: ReadonlySet<string> = new Set(OPEN_STATES);

/** Returns the number of settled invoices in a batch's counts: every outcome except staged, sending and accepted. */
export function settledCount(counts: Readonly<Record<string, number>>): number {
  return Object.entries(counts).reduce((sum, [state, invoices]) => sum + (OPEN.has(state) ? 0 : invoices), 0);
}

/** Numbers of invoices by outcome; the ledger has one count per currency. An outcome without an invoice has no entry. */
export function countsByOutcome(
  counts: readonly Pick<OutcomeCount, 'outcome' | 'invoices'>[],
): Partial<Record<Outcome, number>> {
  const byOutcome: Partial<Record<Outcome, number>> = {};
  for (const { outcome, invoices } of counts) byOutcome[outcome] = (byOutcome[outcome] ?? 0) + invoices;
  return byOutcome;
}

/** Returns the same as `countsByOutcome`, with 0 for each outcome without an invoice. */
export function everyCountByOutcome(
  counts: readonly Pick<OutcomeCount, 'outcome' | 'invoices'>[],
): Record<Outcome, number> {
  const none = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
  return { ...none, ...countsByOutcome(counts) };
}

/** Returns the number of invoices with a document. A missing entry is 0. */
export function issuedCount(counts: { readonly [State in Outcome]?: number | undefined }): number {
  return ISSUED_OUTCOMES.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** Returns the exact net of the invoices by currency, without those whose currency is unreadable. */
export function netByCurrency(counts: readonly Pick<OutcomeCount, 'currency' | 'net'>[]): ReadonlyMap<string, string> {
  const nets = new Map<string, string>();
  for (const { currency, net } of counts)
    if (currency !== null) nets.set(currency, sumDecimals([nets.get(currency) ?? '0', net]));
  return nets;
}

/** Number of invoices and their exact net sum in one currency. */
export interface CurrencyTotal {
  /** Null if the currency is unreadable. */
  readonly currency: string | null;
  readonly invoices: number;
  /** Exact decimal, without tax. */
  readonly net: string;
  /** Invoices with an unreadable amount, which `net` does not include. */
  readonly withoutAmount: number;
  readonly byState: Readonly<Partial<Record<Outcome, string>>>;
}

/** Returns the totals by currency, in alphabetical order; the unreadable currency comes last. */
export function currencyTotals(counts: readonly OutcomeCount[]): readonly CurrencyTotal[] {
  // Currencies have capital letters, so the unreadable one comes last.
  const currencies = [...new Set(counts.map(({ currency }) => currency))].sort((a, b) =>
    (a ?? '~') < (b ?? '~') ? -1 : 1,
  );
  return currencies.map((currency) => totalOf(currency, counts));
}

function totalOf(currency: string | null, all: readonly OutcomeCount[]): CurrencyTotal {
  const counts = all.filter((count) => count.currency === currency);
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

/** The parts of a result that say whether the whole file was issued. */
type Ended = Pick<BatchResult, 'counts' | 'totalsDiffer'>;

/** True if every data row of the file belongs to an issued invoice and the file has its declared control totals. This can hold for a cancelled batch too. */
export function isEveryRowIssued({ counts, totalsDiffer }: Ended): boolean {
  return issuedCount(counts) === (counts.invoices ?? 0) && (counts.rowsLost ?? 0) === 0 && totalsDiffer === undefined;
}

/** True if every data row belongs to an issued invoice, no control total differs and no invoice is in doubt. */
export function isWholeFileIssued(ended: Ended): boolean {
  return isEveryRowIssued(ended) && (ended.counts.contradicted ?? 0) === 0;
}
