import { describe, expect, it } from 'vitest';
import { createServiceClock } from '../../../../src/domain/time/service-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOON = Date.UTC(2026, 4, 1, 12);
const EARLIER = NOON - MINUTE_MS;

/** A machine whose clock says noon when the process starts, and what the process was told of it. */
function slowMachine() {
  let wall = NOON;
  let steady = 0;
  const told: number[] = [];
  const clock = createServiceClock({
    latest: () => wall,
    monotonic: () => steady,
    onBehind: (aheadMs) => told.push(aheadMs),
  });
  return {
    clock,
    told,
    pass: (ms: number): void => void ((wall += ms), (steady += ms)),
    set: (ms: number): void => void (wall += ms),
  };
}

describe('the latest time that it can be, for a key that an earlier process used', () => {
  it('is that of this machine until the service has said a later one, and then goes on from there', () => {
    const { clock, told, pass } = slowMachine();
    expect(clock.latestNow(EARLIER)).toBe(NOON);

    clock.heard(NOON + 2 * HOUR_MS);
    pass(HOUR_MS);

    expect(clock.latestNow(EARLIER)).toBe(NOON + 3 * HOUR_MS);
    expect(told).toEqual([2 * HOUR_MS]);
  });

  it('is no earlier one where an answer names an earlier time, as one from a cache does, or none', () => {
    const { clock, told } = slowMachine();
    clock.heard(NOON + HOUR_MS);
    clock.heard(NOON - HOUR_MS);
    clock.heard(null);
    expect(clock.latestNow(EARLIER)).toBe(NOON + HOUR_MS);
    expect(told).toHaveLength(1);
  });

  it('is that of this machine again, once its clock is set', () => {
    const { clock, set, pass } = slowMachine();
    clock.heard(NOON + HOUR_MS);
    set(HOUR_MS);
    pass(1_000);
    expect(clock.latestNow(EARLIER)).toBe(NOON + HOUR_MS + 1_000);
  });

  it('is that of the service also where the clock is behind the time at which the key was used', () => {
    const { clock, pass } = slowMachine();
    const used = NOON + HOUR_MS;
    clock.sentBefore(used);
    // What this process notes later says nothing of earlier ones.
    clock.sentBefore(NOON + 20 * HOUR_MS);
    clock.heard(NOON + 3 * HOUR_MS);
    pass(2 * HOUR_MS);
    expect(clock.latestNow(used)).toBe(NOON + 5 * HOUR_MS);
    expect(clock.latestNow(used + 1), 'a key of this process').toBe(NOON + 2 * HOUR_MS);
  });

  it('says nothing of a difference that clocks may have', () => {
    const { clock, told } = slowMachine();
    clock.heard(NOON + 30_000);
    expect(told).toEqual([]);
  });
});

it('is that of this machine alone for a key that this process used first, however wrong the clock of the service is', () => {
  const { clock, pass } = slowMachine();
  clock.heard(NOON + 1_000 * HOUR_MS);
  pass(HOUR_MS);
  expect(clock.latestNow(NOON + MINUTE_MS)).toBe(NOON + HOUR_MS);
  expect(clock.latestNow()).toBe(NOON + HOUR_MS);
});

it('an answer must come before a key of an earlier process is repeated, and any will do', async () => {
  const { clock } = slowMachine();
  expect([clock.mustHear(EARLIER), clock.mustHear(NOON + MINUTE_MS)]).toEqual([true, false]);
  clock.heard(null);
  await clock.answered;
  expect(clock.mustHear(EARLIER)).toBe(false);
});
