import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  pollsDue,
  pollsEveryInvoice,
  pollTimes,
  nextPollInMs,
  type PollPace,
} from '../../../../src/domain/time/poll-times.ts';

const MINUTE = 60_000;
const own = (settleMs: number): PollPace => ({ settleMs, everyMs: null });
const settleTimes = fc.integer({ min: 100, max: 30 * 24 * 60 * MINUTE });

describe('pollTimes', () => {
  it('begins after 30 s, doubles, and ends just before the settle time', () => {
    expect(pollTimes(own(15 * MINUTE))).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 855_000]);
  });

  it('begins after a quarter of a short settle time', () => {
    expect(pollTimes(own(8_000))).toEqual([2_000, 4_000, 7_600]);
  });

  it('is at most six polls, rising, the last one inside the settle time', () => {
    fc.assert(
      fc.property(settleTimes, (settleMs) => {
        const times = pollTimes(own(settleMs));
        expect(times.length).toBeLessThanOrEqual(6);
        expect(times.length).toBeGreaterThan(0);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(times.at(-1)).toBeLessThan(settleMs);
      }),
    );
  });
});

describe('the pace of a service profile', () => {
  it('polls every invoice after so many seconds, again and again, and at last just before the settle time ends', () => {
    const pace = { settleMs: 30_000, everyMs: 6_000 };

    expect(pollTimes(pace)).toEqual([6_000, 12_000, 18_000, 24_000, 28_500]);
    expect(pollsEveryInvoice(pace, 1)).toBe(true);
    expect(pollTimes({ settleMs: 4_000, everyMs: 950 }), 'the last one once').toEqual([950, 1_900, 2_850, 3_800]);
  });

  it('grows slower after 60 polls: an engine that takes a month is not polled a million times', () => {
    const times = pollTimes({ settleMs: 30 * 24 * 60 * MINUTE, everyMs: 1_000 });

    expect(times.slice(59, 62)).toEqual([60_000, 120_000, 240_000]);
    expect(times.length).toBeLessThan(80);
  });
});

describe('pollsEveryInvoice', () => {
  it('means the last three times, and only a sample before them', () => {
    expect([1, 2, 3, 4, 5, 6].filter((ask) => pollsEveryInvoice(own(15 * MINUTE), ask))).toEqual([4, 5, 6]);
    expect([1, 2, 3].filter((ask) => pollsEveryInvoice(own(MINUTE), ask))).toEqual([1, 2, 3]);
  });
});

describe('pollsDue and nextPollInMs', () => {
  it('count what should have been asked, and tell when the next one is', () => {
    expect(pollsDue(own(8_000), 0)).toBe(0);
    expect(nextPollInMs(own(8_000), 0)).toBe(2_000);
    expect(pollsDue(own(8_000), 2_000)).toBe(1);
    expect(nextPollInMs(own(8_000), 2_000)).toBe(2_000);
    expect(pollsDue(own(8_000), 7_600)).toBe(3);
    expect(nextPollInMs(own(8_000), 7_600)).toBeNull();
  });

  it('agree at every age: one more is due when the next time has come', () => {
    fc.assert(
      fc.property(settleTimes, fc.double({ min: 0, max: 1, noNaN: true }), (settleMs, share) => {
        const age = Math.floor(settleMs * share);
        const next = nextPollInMs(own(settleMs), age);
        if (next === null) expect(pollsDue(own(settleMs), age)).toBe(pollTimes(own(settleMs)).length);
        else expect(pollsDue(own(settleMs), age + next)).toBeGreaterThan(pollsDue(own(settleMs), age));
      }),
    );
  });
});
