import { durationQuantile, mergedHistograms } from '../domain/time/duration-histogram.ts';
import type { Outcome } from '../domain/invoice-state.ts';
import { sumDecimals } from '../domain/money.ts';
import { everyCountByOutcome } from '../domain/outcome-counts.ts';
import { DAY_MS } from '../domain/time/day-ms.ts';
import { dayOf } from '../domain/time/zone-offsets.ts';
import type { BatchFigures, BatchInFigures } from '../ledger/operations/report-marks.ts';

/** Nights that the page goes back. */
const NIGHTS = 90;

/** Parts of a sum: of what went out, of what did not, of what another file has issued. */
export type MoneyPart = 'out' | 'left' | 'before';

/** One night: everything whose file was read on that day. */
export interface NightFigures {
  /** `2026-11-21` */
  readonly date: string;
  readonly batches: number;
  readonly counts: Readonly<Record<Outcome, number>>;
  /** Exact net by currency. */
  readonly money: ReadonlyMap<string, Readonly<Record<MoneyPart, string>>>;
  /** Milliseconds; null: nothing was settled. */
  readonly median: number | null;
  readonly most: number | null;
  /** Invoices that are not confirmed as issued, by reason code. */
  readonly reasons: ReadonlyMap<string, number>;
}

/** The last nights up to `now`, oldest first, also those in which nothing was read; days are those of the zone. */
export function nightFigures(
  batches: readonly BatchInFigures[],
  now: number,
  timeZone: string,
): readonly NightFigures[] {
  const day = dayOf(timeZone);
  const byDay = new Map<string, BatchFigures[]>();
  for (const { startedAt, figures } of batches) {
    if (figures === null) continue;
    const date = day(startedAt);
    byDay.set(date, [...(byDay.get(date) ?? []), figures]);
  }
  const today = Date.parse(day(now));
  return Array.from({ length: NIGHTS }, (_, at) => {
    const date = new Date(today - (NIGHTS - 1 - at) * DAY_MS).toISOString().slice(0, 10);
    return night(date, byDay.get(date) ?? []);
  });
}

/** When the first of these nights may have begun, epoch milliseconds, in whatever zone. */
export function firstNight(now: number): number {
  return now - (NIGHTS + 1) * DAY_MS;
}

function night(date: string, figures: readonly BatchFigures[]): NightFigures {
  const reasons = new Map<string, number>();
  for (const { code, invoices } of figures.flatMap((one) => one.reasons))
    reasons.set(code, (reasons.get(code) ?? 0) + invoices);
  const counts = everyCountByOutcome(
    figures.flatMap(({ states }) =>
      Object.entries(states).map(([outcome, invoices]) => ({ outcome: outcome as Outcome, invoices })),
    ),
  );
  const settling = mergedHistograms(figures.map((one) => one.settling));
  return {
    ...{ date, batches: figures.length, counts, reasons, money: moneyOf(figures) },
    median: durationQuantile(settling, 0.5),
    most: durationQuantile(settling, 0.95),
  };
}

function moneyOf(figures: readonly BatchFigures[]): NightFigures['money'] {
  const money = new Map<string, Record<MoneyPart, string>>();
  for (const { currency, net, out, before = '0' } of figures.flatMap((one) => one.money)) {
    if (currency === null) continue;
    const known = money.get(currency) ?? { out: '0', left: '0', before: '0' };
    money.set(currency, {
      out: sumDecimals([known.out, out]),
      left: sumDecimals([known.left, net, negated(out), negated(before)]),
      before: sumDecimals([known.before, before]),
    });
  }
  return money;
}

function negated(decimal: string): string {
  if (decimal === '0') return decimal;
  return decimal.startsWith('-') ? decimal.slice(1) : `-${decimal}`;
}

/** Reasons that have a line of their own. */
const MOST_REASONS = 10;

/** Why invoices of these nights are not confirmed as issued: the commonest reasons, largest first; equal ones by name, so that a page looks the same when it is read again. */
export function commonReasons(nights: readonly NightFigures[]): readonly (readonly [code: string, invoices: number])[] {
  const sums = new Map<string, number>();
  for (const [code, invoices] of nights.flatMap(({ reasons }) => [...reasons]))
    sums.set(code, (sums.get(code) ?? 0) + invoices);
  return [...sums].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_REASONS);
}
