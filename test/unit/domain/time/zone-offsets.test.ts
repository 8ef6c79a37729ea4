import { expect, it, describe } from 'vitest';
import { dayOf, dayStart, clockChanges } from '../../../../src/domain/time/zone-offsets.ts';

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

const FROM = Date.UTC(2027, 0, 1);

function year(clock: string, timezone: string) {
  const [hour = 0, minute = 0] = clock.split(':').map(Number);
  return clockChanges({ hour, minute, timezone }, FROM, 365);
}

describe('days on which the clock is changed', () => {
  it.each([
    ['02:00', 'Europe/Lisbon'],
    ['04:00', 'Europe/Madrid'],
    ['02:30', 'UTC'],
    ['02:30', 'Atlantic/Reykjavik'],
  ])('%s in %s exists once on every day of the year', (clock, timezone) => {
    expect(year(clock, timezone)).toEqual([]);
  });

  it.each([
    ['01:30', 'Europe/Lisbon', '2027-03-28', '2027-10-31'],
    ['02:00', 'Europe/Madrid', '2027-03-28', '2027-10-31'],
    ['02:59', 'Europe/Madrid', '2027-03-28', '2027-10-31'],
    ['00:30', 'Atlantic/Azores', '2027-03-28', '2027-10-31'],
  ])('%s in %s is left out on %s and comes twice on %s', (clock, timezone, skipped, twice) => {
    expect(year(clock, timezone)).toEqual([
      { date: skipped, kind: 'skipped' },
      { date: twice, kind: 'twice' },
    ]);
  });

  it('are looked for on as many days as were asked for', () => {
    const clock = { hour: 2, minute: 30, timezone: 'Europe/Madrid' };
    const saturday = Date.UTC(2027, 2, 27, 12);

    expect(clockChanges(clock, saturday, 1)).toEqual([]);
    expect(clockChanges(clock, saturday, 2)).toEqual([{ date: '2027-03-28', kind: 'skipped' }]);
  });

  it('knows zones whose skipped hour is not the one that comes twice', () => {
    expect(year('02:30', 'America/New_York')).toEqual([{ date: '2027-03-14', kind: 'skipped' }]);
    expect(year('01:30', 'America/New_York')).toEqual([{ date: '2027-11-07', kind: 'twice' }]);
  });

  it('knows zones south of the equator and half-hour changes', () => {
    expect(year('02:15', 'Australia/Lord_Howe')).toEqual([{ date: '2027-10-03', kind: 'skipped' }]);
    expect(year('01:45', 'Australia/Lord_Howe')).toEqual([{ date: '2027-04-04', kind: 'twice' }]);
  });
});
