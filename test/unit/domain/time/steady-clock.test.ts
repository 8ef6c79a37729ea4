import { describe, expect, it } from 'vitest';
import { latestClock, steadyClock } from '../../../../src/domain/time/steady-clock.ts';

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
