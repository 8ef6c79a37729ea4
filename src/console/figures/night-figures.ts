import { durationQuantile, mergedHistograms } from '../../domain/time/duration-histogram.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { sumDecimals } from '../../domain/money.ts';
import type { BatchFigures, BatchInFigures } from '../../domain/ports/figures.ts';
import { DAY_MS } from '../../domain/time/day-ms.ts';
import { dayOf } from '../../domain/time/zone-offsets.ts';

/** Nights that the pictures go back. */
const NIGHTS = 90;

/** What became of invoices, as a picture tells it; `before`: another file has issued them. */
export const FATES = ['issued', 'failed', 'notSent', 'open', 'before'] as const;
/** One of `FATES`. */
export type Fate = (typeof FATES)[number];

/** Parts of a sum: of what went out, of what did not, of what another file has issued. */
export const MONEY_PARTS = ['out', 'left', 'before'] as const;
/** One of `MONEY_PARTS`. */
export type MoneyPart = (typeof MONEY_PARTS)[number];

/** One night: everything whose file was read on that day. */
export interface NightFigures {
  /** `2026-11-21` */
  readonly date: string;
  readonly batches: number;
  readonly fates: Readonly<Record<Fate, number>>;
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
  const fates: Record<Fate, number> = { issued: 0, failed: 0, notSent: 0, open: 0, before: 0 };
  const reasons = new Map<string, number>();
  for (const { states, reasons: groups } of figures) {
    for (const [state, invoices] of Object.entries(states)) fates[fateOf(state as Outcome)] += invoices;
    for (const { code, invoices } of groups) reasons.set(code, (reasons.get(code) ?? 0) + invoices);
  }
  const settling = mergedHistograms(figures.map((one) => one.settling));
  return {
    ...{ date, batches: figures.length, fates, reasons, money: moneyOf(figures) },
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

function fateOf(state: Outcome): Fate {
  if (state === 'issued') return 'issued';
  if (state === 'already-issued') return 'before';
  if (state === 'failed' || state === 'rejected') return 'failed';
  return state === 'held' || state === 'invalid' || state === 'conflict' || state === 'staged' ? 'notSent' : 'open';
}
