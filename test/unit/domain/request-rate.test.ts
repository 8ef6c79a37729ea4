import { describe, expect, it } from 'vitest';
import {
  isThrottled,
  leftOfHold,
  LONGEST_HOLD_MS,
  rateOf,
  throttle,
  reservePermits,
  FULL_RATE,
  type RequestRate,
  type TooMany,
} from '../../../src/domain/request-rate.ts';

const MINUTE = 60_000;
const FEW: TooMany = { taken: 100, share: 0.02, answers: 60 };
const MANY: TooMany = { taken: 100, share: 0.9, answers: 60 };

function slow(state: RequestRate, now: number, tooMany: TooMany, limit: number | null = null): RequestRate {
  return throttle(state, { tooMany, limit, now });
}

describe('what is left of a hold', () => {
  it.each([
    ['a part of it', 5_000, 1_000, 4_000],
    ['none once its time has come', 5_000, 5_000, 0],
    ['all of the longest', LONGEST_HOLD_MS, 0, LONGEST_HOLD_MS],
    ['no more than the longest where the clock was set right by a second', LONGEST_HOLD_MS + 1_000, 0, LONGEST_HOLD_MS],
    ['none where a clock noted it that was set back by an hour', LONGEST_HOLD_MS + 3_600_000, 0, 0],
  ])('is %s', (_, until, now, left) => {
    expect(leftOfHold(until, now)).toBe(left);
  });
});

describe('the pace of requests', () => {
  it('is the limit, or nothing at all, while the service has not said 429', () => {
    expect(rateOf(FULL_RATE, 25, 5)).toBe(25);
    expect(rateOf(FULL_RATE, null, 5)).toBeNull();
    expect([isThrottled(25, 25), isThrottled(null, null), isThrottled(24, 25), isThrottled(24, null)]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('starts below what the service took, not below what was tried', () => {
    expect(rateOf(slow(FULL_RATE, 0, MANY), null, 0)).toBe(90);
    expect(rateOf(slow(FULL_RATE, 0, MANY, 25), 25, 0), 'never above nine tenths of the limit').toBe(22.5);
    expect(rateOf(slow(FULL_RATE, 0, { ...MANY, taken: 0 }), null, 0), 'one a second at least').toBe(1);
    expect(rateOf(slow(FULL_RATE, 0, { ...MANY, taken: 0 }, 0.5), 0.5, 0), 'far below a limit that is low').toBe(0.025);
  });

  it('is lowered once a second, however many say 429', () => {
    const once = slow(FULL_RATE, 10_000, MANY);

    expect(slow(slow(once, 10_001, MANY), 10_999, MANY)).toEqual(once);
    expect(rateOf(slow(once, 11_000, MANY), null, 11_000)).toBeLessThan(50);
  });

  it('is lowered a little by few and by half by many', () => {
    const once = slow(FULL_RATE, 0, MANY);
    const rate = rateOf(once, null, 1_000) ?? 0;

    expect(rateOf(slow(once, 1_000, FEW), null, 1_000)).toBeCloseTo(rate * 0.9 * 0.98);
    expect(rateOf(slow(once, 1_000, MANY), null, 1_000)).toBeCloseTo(rate * 0.9 * 0.5);
  });

  it('doubles in half a minute, up to the limit and not above it', () => {
    const state = slow(FULL_RATE, 0, { ...MANY, taken: 10 }, 40);

    const rates = [0, MINUTE / 2, MINUTE, 2 * MINUTE, 60 * MINUTE].map((now) => rateOf(state, 40, now));

    expect(rates).toEqual([9, 18, 36, 40, 40]);
  });

  it('begins anew from what the service took when it is full again', () => {
    const state = slow(FULL_RATE, 0, { ...MANY, taken: 10 }, 40);

    const again = slow(state, 5 * MINUTE, { ...MANY, taken: 30 }, 40);

    expect(again.throttled).toEqual({ to: 27, from: 30, at: 5 * MINUTE });
  });

  it('is free again after a minute without a 429 where there is no limit', () => {
    const state = slow(FULL_RATE, 0, MANY);

    expect(rateOf(state, null, MINUTE - 1)).toBeGreaterThan(350);
    expect(rateOf(state, null, MINUTE)).toBeNull();
    expect(rateOf(slow(state, MINUTE, { ...MANY, taken: 400 }), null, MINUTE), 'and begins anew').toBe(360);
  });

  it('makes little of a share of few answers', () => {
    const once = slow(FULL_RATE, 0, MANY);
    const rate = rateOf(once, null, 1_000) ?? 0;

    expect(rateOf(slow(once, 1_000, { ...MANY, share: 1, answers: 1 }), null, 1_000)).toBeCloseTo(rate * 0.9 * 0.9);
  });

  it('goes below a quarter of what was taken only when so many are refused that the rate must be the reason', () => {
    function after(seconds: number, tooMany: TooMany): number | null {
      let state = slow(FULL_RATE, 0, tooMany);
      for (let second = 1; second <= seconds; second += 1) state = slow(state, second * 1_000, tooMany);
      return rateOf(state, null, seconds * 1_000);
    }

    expect(after(60, { ...FEW, share: 0.2 }), 'now and then, however few come').toBe(25);
    expect(after(60, { ...MANY, answers: 3 }), 'three answers prove nothing').toBe(25);
    expect(after(60, { ...MANY, share: 0.5 }), 'half of them is not most of them').toBe(25);
    expect(after(60, { ...MANY, answers: 8 }), 'eight answers are enough').toBe(1);
    expect(after(60, MANY)).toBe(1);
  });

  it('finds the limit of a service and stays near it', () => {
    const limit = 40;
    let state = slow(FULL_RATE, 0, { taken: 400, share: 0.9, answers: 100 });
    let refusals = 0;
    let sent = 0;
    for (let second = 1; second <= 300; second += 1) {
      const now = second * 1_000;
      const rate = rateOf(state, null, now) ?? Number.POSITIVE_INFINITY;
      const over = Math.max(0, rate - limit);
      sent += rate;
      refusals += over;
      if (over > 0) state = slow(state, now, { taken: limit, share: over / rate, answers: rate });
    }

    expect(refusals / sent, 'of all that was sent').toBeLessThan(0.1);
    expect(sent, 'most of what was allowed').toBeGreaterThan(0.85 * limit * 300);
  });

  it('spreads its places evenly, each lease after the one before, and saves none up', () => {
    const first = reservePermits(FULL_RATE, { requests: 5, limit: 10, now: 1_000 });
    const second = reservePermits(first.state, { requests: 1, limit: 10, now: 1_100 });
    const late = reservePermits(second.state, { requests: 1, limit: 10, now: 90_000 });

    expect([first.waitMs, first.gapMs]).toEqual([0, 100]);
    expect(second.waitMs).toBe(400);
    expect(late.waitMs).toBe(0);
  });

  it('keeps nobody waiting for the time by which the clock was set back', () => {
    const ahead = reservePermits(FULL_RATE, { requests: 5, limit: 10, now: 3_600_000 });
    const queue = reservePermits(FULL_RATE, { requests: 700, limit: 10, now: 0 });

    expect(reservePermits(ahead.state, { requests: 5, limit: 10, now: 0 }).waitMs).toBe(0);
    expect(reservePermits(queue.state, { requests: 5, limit: 10, now: 0 }).waitMs, 'a long queue').toBe(70_000);
  });

  it('has as many places as come where there is no limit', () => {
    expect(reservePermits(FULL_RATE, { requests: 9, limit: null, now: 7 })).toEqual({
      state: FULL_RATE,
      waitMs: 0,
      gapMs: 0,
    });
  });

  it('stands when the clock is set back', () => {
    const state = slow(FULL_RATE, 10_000, MANY);

    expect(rateOf(state, null, 0)).toBe(90);
  });
});
