import type { NightFigures } from './night-figures.ts';

/** Pictures of money; more currencies than these stand in the table. */
const MOST_CURRENCIES = 3;
/** Reasons that a picture tells apart; with the others together they are as many as there are fills. */
const MOST_REASONS = 5;

/** One reason, or all the others (`code` null), and how many invoices of a night it has. */
export interface ShownReason {
  readonly code: string | null;
  of(night: NightFigures): number;
}

/** The currencies of these nights, those of most nights first. */
export function currenciesOf(nights: readonly NightFigures[]): readonly string[] {
  return byWeight(nights.flatMap(({ money }) => [...money.keys()].map((currency) => [currency, 1] as const))).slice(
    0,
    MOST_CURRENCIES,
  );
}

/** The commonest reasons, and the others where there are any. */
export function commonReasons(nights: readonly NightFigures[]): readonly ShownReason[] {
  const codes = byWeight(nights.flatMap(({ reasons }) => [...reasons]));
  const shown = new Set(codes.slice(0, MOST_REASONS));
  const own = [...shown].map((code) => ({ code, of: ({ reasons }: NightFigures) => reasons.get(code) ?? 0 }));
  if (codes.length === shown.size) return own;
  const others = ({ reasons }: NightFigures) =>
    [...reasons].reduce((sum, [code, invoices]) => sum + (shown.has(code) ? 0 : invoices), 0);
  return [...own, { code: null, of: others }];
}

/** Names with the greatest sum first; equal ones by name, so that a page looks the same when it is read again. */
function byWeight(entries: readonly (readonly [name: string, weight: number])[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const [name, weight] of entries) sums.set(name, (sums.get(name) ?? 0) + weight);
  return [...sums].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([name]) => name);
}
