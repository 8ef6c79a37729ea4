import { describe, expect, it } from 'vitest';
import { DEFAULT_RETRY_PLAN, backoffMs } from '../../../../src/sandbox/deliverer.ts';

const PLAN = { firstDelayMs: 100, longestDelayMs: 1000, maxAttempts: 8 };

describe('backoffMs', () => {
  it('doubles from the first delay up to the longest', () => {
    const longest = [1, 2, 3, 4, 5, 6, 50].map((attempts) => backoffMs(attempts, PLAN, () => 1));

    expect(longest).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
  });

  it('draws the upper half by chance', () => {
    expect([0, 0.5, 1].map((drawn) => backoffMs(3, PLAN, () => drawn))).toEqual([200, 300, 400]);
  });
});

describe('the default plan', () => {
  it('tries at least eight times, for at least half an hour', () => {
    let total = 0;
    for (let tries = 1; tries < DEFAULT_RETRY_PLAN.maxAttempts; tries += 1) {
      total += backoffMs(tries, DEFAULT_RETRY_PLAN, () => 0);
    }

    expect(DEFAULT_RETRY_PLAN.maxAttempts).toBeGreaterThanOrEqual(8);
    expect(total).toBeGreaterThanOrEqual(1_800_000);
  });
});
