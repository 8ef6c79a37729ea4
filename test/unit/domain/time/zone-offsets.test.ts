import { expect, it } from 'vitest';
import { dayOf, dayStart } from '../../../../src/domain/time/zone-offsets.ts';

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
