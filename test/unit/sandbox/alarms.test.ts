import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAlarms } from '../../../src/sandbox/alarms.ts';

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

  it('ring soon when their time has passed', () => {
    const rung: string[] = [];
    createAlarms().after(-5000, () => rung.push('overdue'));

    vi.advanceTimersByTime(1);

    expect(rung).toEqual(['overdue']);
  });

  it('do not ring at once when they are further away than a timer can count', () => {
    const rung: string[] = [];
    createAlarms().after(2 ** 40, () => rung.push('far'));

    vi.advanceTimersByTime(86_400_000);

    expect(rung).toEqual([]);
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
