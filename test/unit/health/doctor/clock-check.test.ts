import { describe, expect, it } from 'vitest';
import { clockCheck } from '../../../../src/health/doctor/check.ts';

const NOW = Date.UTC(2027, 0, 15, 12);

describe('two clocks', () => {
  it.each([
    ['a second', 1_000, 'ok', "agrees with the service's"],
    ['thirty seconds and the second that a header rounds away', 31_000, 'ok', "30 s from the service's"],
    ['more', 33_000, 'trouble', "32 s from the service's."],
    ['more, the other way', -92_000, 'trouble', "91 s from the service's."],
  ])('are compared: apart by %s', (_, apart, state, detail) => {
    expect(clockCheck('clock', { theirs: NOW + apart, ours: NOW, whose: "the service's" })).toMatchObject({
      ...{ name: 'clock', state, detail },
    });
  });
});
