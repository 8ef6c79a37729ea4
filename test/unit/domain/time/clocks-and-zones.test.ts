import { describe, expect, it } from 'vitest';
import { latestClock, steadyClock } from '../../../../src/domain/time/steady-clock.ts';
import { dayOf, dayStart } from '../../../../src/domain/time/zone-offsets.ts';
import fc from 'fast-check';
import { durationCounter, durationQuantile, mergedHistograms } from '../../../../src/domain/time/duration-histogram.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 4, 1, 12);

/** A machine whose clock can be set, and which can sleep: its monotonic clock then stands still. */
function machine() {
  let wall = NOON;
  let steady = 0;
  return {
    wall: () => wall,
    steady: () => steady,
    pass: (ms: number): void => void ((wall += ms), (steady += ms)),
    sleep: (ms: number): void => void (wall += ms),
    set: (ms: number): void => void (wall += ms),
  };
}

describe('the latest time that it can be', () => {
  it('is that of the clock', () => {
    const { wall, steady, pass } = machine();
    const latest = latestClock(wall, steady);
    pass(HOUR_MS);
    expect(latest()).toBe(NOON + HOUR_MS);
  });

  it('goes on where the clock is set back', () => {
    const { wall, steady, pass, set } = machine();
    const latest = latestClock(wall, steady);
    pass(3 * HOUR_MS);
    expect(latest()).toBe(NOON + 3 * HOUR_MS);
    set(-2 * HOUR_MS);
    pass(HOUR_MS + 0.25);
    expect(latest(), 'in whole milliseconds').toBe(NOON + 4 * HOUR_MS);
  });
});

it('milliseconds that go on while the machine sleeps', () => {
  const { wall, steady, pass, sleep } = machine();
  const elapsed = steadyClock(wall, steady);
  pass(5);
  sleep(HOUR_MS);
  expect(elapsed()).toBe(HOUR_MS + 5);
});

it.each([
  ['2026-11-21', 'UTC', '2026-11-21T00:00:00.000Z'],
  ['2026-07-01', 'Europe/Lisbon', '2026-06-30T23:00:00.000Z'],
  ['2026-03-29', 'Europe/Madrid', '2026-03-28T23:00:00.000Z'],
  // The clock is changed at midnight: this day begins at one, the other one began an hour earlier.
  ['2026-04-24', 'Africa/Cairo', '2026-04-23T22:00:00.000Z'],
  ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
  // Set back at midnight, the clock shows the hour before this day a second time.
  ['2026-10-30', 'Africa/Cairo', '2026-10-29T22:00:00.000Z'],
  // Set back later in the day.
  ['2026-10-25', 'Europe/Madrid', '2026-10-24T22:00:00.000Z'],
])('the day %s of %s begins at %s', (date, timezone, instant) => {
  const start = dayStart(date, timezone) ?? Number.NaN;

  expect(new Date(start).toISOString()).toBe(instant);
  expect([dayOf(timezone)(start - 1), dayOf(timezone)(start)]).toEqual([expect.not.stringContaining(date), date]);
});

it.each(['2026-02-30', '21.11.2026', '', '2026-13-01'])('%j is no day', (date) => {
  expect(dayStart(date, 'UTC')).toBeNull();
});

function histogramOf(durations: readonly number[]) {
  const counter = durationCounter();
  for (const ms of durations) counter.add(ms);
  return counter.histogram();
}

it('tells each share to within nine percent and never too little, from several histograms as from one', () => {
  const durations = fc.array(fc.integer({ min: 10, max: 1_000_000_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, durations, fc.constantFrom(0.5, 0.95, 1), (some, others, share) => {
      const sorted = [...some, ...others].sort((a, b) => a - b);
      const exact = sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

      const told = durationQuantile(mergedHistograms([histogramOf(some), histogramOf(others)]), share) ?? 0;

      expect(told).toBeGreaterThanOrEqual(exact * 0.999999);
      expect(told).toBeLessThanOrEqual(exact * 2 ** (1 / 8) * 1.000001);
    }),
  );
});

it('knows nothing of no durations, and takes what no clock can measure for the shortest', () => {
  expect(durationQuantile({}, 0.5)).toBeNull();
  expect(durationQuantile(histogramOf([-5, 0, 3]), 1)).toBe(10);
});
