import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pollsDue, pollsEveryInvoice, pollTimes, nextPollInMs } from '../../../src/domain/poll-times.ts';

const MINUTE = 60_000;
const settleTimes = fc.integer({ min: 100, max: 30 * 24 * 60 * MINUTE });

describe('askTimes', () => {
  it('begins after 30 s, doubles, and ends just before the settle time', () => {
    expect(pollTimes(15 * MINUTE)).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 855_000]);
  });

  it('begins after a quarter of a short settle time', () => {
    expect(pollTimes(8_000)).toEqual([2_000, 4_000, 7_600]);
  });

  it('is at most six asks, rising, the last one inside the settle time', () => {
    fc.assert(
      fc.property(settleTimes, (settleMs) => {
        const times = pollTimes(settleMs);
        expect(times.length).toBeLessThanOrEqual(6);
        expect(times.length).toBeGreaterThan(0);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times.at(-1)).toBeLessThan(settleMs);
      }),
    );
  });
});

describe('asksEveryInvoice', () => {
  it('means the last three times, and only a sample before them', () => {
    expect([1, 2, 3, 4, 5, 6].filter((ask) => pollsEveryInvoice(15 * MINUTE, ask))).toEqual([4, 5, 6]);
    expect([1, 2, 3].filter((ask) => pollsEveryInvoice(MINUTE, ask))).toEqual([1, 2, 3]);
  });
});

describe('asksDue and nextAskInMs', () => {
  it('count what should have been asked, and tell when the next one is', () => {
    expect(pollsDue(8_000, 0)).toBe(0);
    expect(nextPollInMs(8_000, 0)).toBe(2_000);
    expect(pollsDue(8_000, 2_000)).toBe(1);
    expect(nextPollInMs(8_000, 2_000)).toBe(2_000);
    expect(pollsDue(8_000, 7_600)).toBe(3);
    expect(nextPollInMs(8_000, 7_600)).toBeNull();
  });

  it('agree at every age: one more is due when the next time has come', () => {
    fc.assert(
      fc.property(settleTimes, fc.double({ min: 0, max: 1, noNaN: true }), (settleMs, share) => {
        const age = Math.floor(settleMs * share);
        const next = nextPollInMs(settleMs, age);
        if (next === null) expect(pollsDue(settleMs, age)).toBe(pollTimes(settleMs).length);
        else expect(pollsDue(settleMs, age + next)).toBeGreaterThan(pollsDue(settleMs, age));
      }),
    );
  });
});
