import { describe, expect, it } from 'vitest';
import {
  FULL_RATE,
  leftOfHold,
  LONGEST_HOLD_MS,
  rateOf,
  reservePermits,
  slowDown,
  type RequestRate,
} from '../../../src/domain/request-rate.ts';

const MINUTE = 60_000;

function slowed(state: RequestRate, now: number, { taken = 100, limit = null as number | null } = {}): RequestRate {
  return slowDown(state, { taken, limit, now });
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

describe('the rate of requests', () => {
  it('is the limit, or none, while the service takes what comes', () => {
    expect([rateOf(FULL_RATE, 25, 5), rateOf(FULL_RATE, null, 5)]).toEqual([25, null]);
  });

  it('starts at half of what the service took, not of what was tried', () => {
    expect(rateOf(slowed(FULL_RATE, 0), null, 0)).toBe(50);
    expect(rateOf(slowed(FULL_RATE, 0, { limit: 25 }), 25, 0), 'never above half of the limit').toBe(12.5);
    expect(rateOf(slowed(FULL_RATE, 0, { taken: 0 }), null, 0), 'one a second at least').toBe(1);
    expect(rateOf(slowed(FULL_RATE, 0, { taken: 0, limit: 0.5 }), 0.5, 0), 'below a low limit').toBe(0.025);
  });

  it('falls once a second, however many processes are refused', () => {
    const once = slowed(FULL_RATE, 10_000);

    expect(slowed(slowed(once, 10_001), 10_999)).toEqual(once);
    expect(rateOf(slowed(once, 11_000), null, 11_000)).toBeCloseTo((rateOf(once, null, 11_000) ?? 0) * 0.75);
  });

  it('doubles in half a minute, and is full after a minute without a refusal', () => {
    const state = slowed(FULL_RATE, 0, { taken: 20, limit: 30 });

    const rates = [0, MINUTE / 2, MINUTE - 1, MINUTE, 60 * MINUTE].map((now) => rateOf(state, 30, now));

    expect(rates).toEqual([10, 20, 30, 30, 30]);
    expect(rateOf(slowed(FULL_RATE, 0), null, MINUTE - 1)).toBeGreaterThan(190);
    expect(rateOf(slowed(FULL_RATE, 0), null, MINUTE)).toBeNull();
  });

  it('begins anew from what the service took when it is full again', () => {
    const state = slowed(FULL_RATE, 0, { taken: 10, limit: 40 });

    expect(slowed(state, 5 * MINUTE, { taken: 30, limit: 40 }).slowed).toEqual({ to: 15, at: 5 * MINUTE });
  });

  it('spreads permits evenly, each lease after the one before, and saves none up', () => {
    const first = reservePermits(FULL_RATE, { requests: 5, limit: 10, now: 1_000 });
    const second = reservePermits(first.state, { requests: 1, limit: 10, now: 1_100 });
    const late = reservePermits(second.state, { requests: 1, limit: 10, now: 90_000 });

    expect([first.waitMs, first.gapMs]).toEqual([0, 100]);
    expect(second.waitMs).toBe(400);
    expect(late.waitMs).toBe(0);
  });

  it('takes rates below one a second', () => {
    const first = reservePermits(FULL_RATE, { requests: 1, limit: 0.5, now: 0 });

    expect(reservePermits(first.state, { requests: 1, limit: 0.5, now: 500 }).waitMs).toBe(1_500);
  });

  it('gives any number of permits where there is no limit', () => {
    const permits = reservePermits(FULL_RATE, { requests: 9, limit: null, now: 7 });

    expect(permits).toEqual({ state: FULL_RATE, waitMs: 0, gapMs: 0 });
  });

  it('waits for nothing that was noted before the clock was set back', () => {
    const ahead = reservePermits(FULL_RATE, { requests: 5, limit: 10, now: 3_600_000 });
    const queue = reservePermits(FULL_RATE, { requests: 700, limit: 10, now: 0 });

    expect(reservePermits(ahead.state, { requests: 5, limit: 10, now: 0 }).waitMs).toBe(0);
    expect(reservePermits(queue.state, { requests: 5, limit: 10, now: 0 }).waitMs, 'a long queue').toBe(70_000);
    expect(rateOf(slowed(FULL_RATE, 3_600_000), null, 0)).toBeNull();
  });
});
