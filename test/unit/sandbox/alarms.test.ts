import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAlarms } from '../../../src/sandbox/context.ts';

describe('alarms', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ring once, after their delay', () => {
    const rung: string[] = [];
    const alarms = createAlarms();
    alarms.after(200, () => rung.push('late'));
    alarms.after(100, () => rung.push('early'));

    vi.advanceTimersByTime(150);
    expect(rung).toEqual(['early']);
    vi.advanceTimersByTime(1000);

    expect(rung).toEqual(['early', 'late']);
  });

  it.each([
    ['ring soon when their time has passed', -5000, 1, ['rung']],
    ['do not ring at once when they are further away than a timer can count', 2 ** 40, 86_400_000, []],
  ])('%s', (_name, delayMs, waitedMs, expected) => {
    const rung: string[] = [];
    createAlarms().after(delayMs, () => rung.push('rung'));

    vi.advanceTimersByTime(waitedMs);

    expect(rung).toEqual(expected);
  });

  it('are silent once stopped, those set afterwards too', () => {
    const rung: string[] = [];
    const alarms = createAlarms();
    alarms.after(100, () => rung.push('before'));

    alarms.stop();
    alarms.after(100, () => rung.push('after'));
    vi.advanceTimersByTime(1000);

    expect(rung).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
