import { durationQuantile, mergedHistograms } from '../../domain/time/duration-histogram.ts';
import { wentOut, type Outcome } from '../../domain/invoice-state.ts';
import { sumDecimals } from '../../domain/money.ts';
import type { BatchFigures, BatchInFigures } from '../../domain/ports/figures.ts';
import { dayOf } from '../../domain/time/zone-offsets.ts';

/** Nights that the pictures go back. */
const NIGHTS = 90;
const DAY_MS = 24 * 60 * 60 * 1000;

/** What became of invoices, as a picture tells it. */
export const FATES = ['issued', 'failed', 'notSent', 'open'] as const;
/** One of `FATES`. */
export type Fate = (typeof FATES)[number];

/** One night: everything whose file was read on that day. */
export interface NightFigures {
  /** `2026-11-21` */
  readonly date: string;
  readonly batches: number;
  readonly fates: Readonly<Record<Fate, number>>;
  /** Exact net by currency: of what went out, and of the rest. */
  readonly money: ReadonlyMap<string, { readonly out: string; readonly left: string }>;
  /** Milliseconds; null: nothing was settled. */
  readonly median: number | null;
  readonly most: number | null;
  /** Invoices that did not go out, by reason code. */
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
  const fates: Record<Fate, number> = { issued: 0, failed: 0, notSent: 0, open: 0 };
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
  const money = new Map<string, { out: string; left: string }>();
  for (const { currency, net, out } of figures.flatMap((one) => one.money)) {
    if (currency === null) continue;
    const known = money.get(currency) ?? { out: '0', left: '0' };
    const left = sumDecimals([net, out.startsWith('-') ? out.slice(1) : out === '0' ? '0' : `-${out}`]);
    money.set(currency, { out: sumDecimals([known.out, out]), left: sumDecimals([known.left, left]) });
  }
  return money;
}

function fateOf(state: Outcome): Fate {
  if (wentOut(state)) return 'issued';
  if (state === 'failed' || state === 'rejected') return 'failed';
  return state === 'held' || state === 'invalid' || state === 'conflict' || state === 'staged' ? 'notSent' : 'open';
}
