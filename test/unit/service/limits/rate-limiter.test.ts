import { describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../../src/service/limits/rate-limiter.ts';

describe('createPace', () => {
  it('never waits without a limit', () => {
    const pace = createRateLimiter(null);

    expect([pace.reserve(0), pace.reserve(0), pace.reserve(0)]).toEqual([0, 0, 0]);
  });

  it('spreads requests that come at once evenly', () => {
    const pace = createRateLimiter(4);

    expect([pace.reserve(1_000), pace.reserve(1_000), pace.reserve(1_000)]).toEqual([0, 250, 500]);
  });

  it('saves nothing up for a burst while nobody asks', () => {
    const pace = createRateLimiter(10);
    pace.reserve(0);

    expect([pace.reserve(60_000), pace.reserve(60_000)]).toEqual([0, 100]);
  });

  it('takes rates below one per second', () => {
    const pace = createRateLimiter(0.5);

    expect([pace.reserve(0), pace.reserve(500)]).toEqual([0, 1_500]);
  });

  it('is slowed by a 429 although it had no limit, and whole again after a minute without one', () => {
    const pace = createRateLimiter(null);
    const before = pace.throttled(0);

    pace.slowDown({ taken: 100, share: 0.2, answers: 50 }, 0);
    const waits = [pace.reserve(0), pace.reserve(0)];

    expect([before, pace.throttled(0), pace.throttled(59_999), pace.throttled(60_000)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
    expect(waits[0]).toBe(0);
    expect(waits[1]).toBeCloseTo(1_000 / 90);
    expect([pace.reserve(60_000), pace.reserve(60_000)]).toEqual([0, 0]);
  });

  it('is slowed below a limit of its own, and rises to it again, not above', () => {
    const pace = createRateLimiter(40);

    pace.slowDown({ taken: 10, share: 0.5, answers: 50 }, 0);

    expect([pace.reserve(0), pace.reserve(0)]).toEqual([0, 1_000 / 9]);
    expect([pace.throttled(60_000), pace.throttled(120_000)]).toEqual([true, false]);
    expect([pace.reserve(120_000), pace.reserve(120_000)]).toEqual([0, 25]);
  });

  it('names the rate at which requests leave', () => {
    const [free, limited] = [createRateLimiter(null), createRateLimiter(40)];
    const before = [free.rate(0), limited.rate(0)];

    for (const pace of [free, limited]) pace.slowDown({ taken: 10, share: 0.5, answers: 50 }, 0);

    expect(before).toEqual([null, 40]);
    expect([free.rate(0), limited.rate(0)]).toEqual([9, 9]);
  });

  it('is open without a limit, and not during a hold, at a lowered rate or with a limit', () => {
    const held = createRateLimiter(null);
    held.hold(9_000, 0);
    const lowered = createRateLimiter(null);
    lowered.slowDown({ taken: 10, share: 0.5, answers: 50 }, 0);

    expect([createRateLimiter(null).isOpen(0), held.isOpen(8_999), held.isOpen(9_000)]).toEqual([true, false, true]);
    expect([lowered.isOpen(0), createRateLimiter(40).isOpen(0)]).toEqual([false, false]);
  });

  it('keeps the longest hold', () => {
    const pace = createRateLimiter(null);

    pace.hold(9_000, 0);
    pace.hold(3_000, 0);

    expect(pace.heldUntil()).toBe(9_000);
  });

  it('forgets a hold when the clock was set back by more than any hold lasts', () => {
    const pace = createRateLimiter(null);
    const hour = 3_600_000;
    pace.hold(hour + 1_000, hour);

    const before = [pace.isOpen(hour), pace.isOpen(0)];
    pace.hold(5_000, 0);

    expect([...before, pace.isOpen(4_999), pace.isOpen(5_000)]).toEqual([false, true, false, true]);
  });
});
