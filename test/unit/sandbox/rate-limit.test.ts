import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../src/sandbox/http/handle-request.ts';

describe('the rate limit of the sandbox', () => {
  it('refuses nothing without a limit', () => {
    const isOver = createRateLimit(null, () => 0);

    expect(Array.from({ length: 1_000 }, () => isOver())).not.toContain(true);
  });

  it('takes a second at once, and then each in its time', () => {
    let now = 50_000;
    const isOver = createRateLimit(10, () => now);
    const taken = (): number => Array.from({ length: 100 }, () => isOver()).filter((over) => !over).length;

    const first = taken();
    now += 100;
    const next = taken();
    now += 5_000;

    expect([first, next, taken()]).toEqual([10, 1, 10]);
  });

  it('takes one of a limit below one a second', () => {
    let now = 0;
    const isOver = createRateLimit(0.5, () => now);

    expect([isOver(), isOver()]).toEqual([false, true]);
    now = 1_999;
    expect(isOver(), 'in the last moment of the wait').toBe(true);
    now = 2_000;
    expect([isOver(), isOver()]).toEqual([false, true]);
  });
});
