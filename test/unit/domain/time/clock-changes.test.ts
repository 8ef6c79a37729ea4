import { describe, expect, it } from 'vitest';
import { clockChanges } from '../../../../src/domain/time/zone-offsets.ts';

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
