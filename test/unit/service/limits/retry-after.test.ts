import { describe, expect, it } from 'vitest';
import { LONGEST_HOLD_MS } from '../../../../src/domain/request-rate.ts';
import { retryAfterMs } from '../../../../src/service/limits/retry-after.ts';

const NOW = Date.UTC(2026, 6, 1, 2, 0, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['1.5', 1_500],
    ['1.25', 1_250],
    ['600', 600_000],
    ['601', LONGEST_HOLD_MS],
    ['99999999999999999999999', LONGEST_HOLD_MS],
    ['9'.repeat(400), LONGEST_HOLD_MS],
    ['Wed, 01 Jul 2026 02:00:30 GMT', 30_000],
    ['Wednesday, 01-Jul-26 02:00:30 GMT', 30_000],
    ['Wed 01 Jul 2026 02:00:30 GMT', 30_000],
    ['Wed, 01 Jul 2026 01:00:00 GMT', 0],
    ['Fri, 01 Jul 2146 02:00:00 GMT', LONGEST_HOLD_MS],
  ])('reads %s', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    '-5',
    'soon',
    '5s',
    '0x10',
    '1e3',
    'Wed, 99 Foo 2026',
    '2026-07-01',
    'NaN',
    'Infinity',
    'on Wed, 01 Jul 2026 02:00:30 GMT',
  ])('says nothing of %j', (header) => {
    expect(retryAfterMs(header, NOW)).toBeNull();
  });
});
