import { describe, expect, it } from 'vitest';
import { nightlyTime } from '../../../../src/cli/session/nightly-time.ts';

describe('the time of a night', () => {
  it.each([
    ['02:00', 2, 0],
    ['2:05', 2, 5],
    ['23:59', 23, 59],
    ['00:00', 0, 0],
  ])('%s is understood', (at, hour, minute) => {
    expect(nightlyTime(at, 'Europe/Lisbon')).toEqual({ hour, minute, timezone: 'Europe/Lisbon' });
  });

  it.each(['24:00', '2', '02:60', '2am', '', '02:00:00', ' 02:00'])('%j is refused with an example', (at) => {
    expect(() => nightlyTime(at, 'UTC')).toThrow(/--at must be a time such as 02:00, found/u);
  });

  it('has its zone as Temporal spells it, which takes no other spelling', () => {
    expect(nightlyTime('02:00', 'europe/lisbon').timezone).toBe('Europe/Lisbon');
  });

  it.each(['Lisbon', '+01:00'])('refuses %j, which is no zone', (zone) => {
    expect(() => nightlyTime('02:00', zone)).toThrow(/IANA name such as Europe\/Lisbon.*found "/u);
  });
});
