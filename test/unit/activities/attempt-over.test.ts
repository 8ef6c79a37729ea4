import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { attemptOverSoon } from '../../../activities/attempt-over.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** What the signal says to an activity that is cancelled for that reason, so many milliseconds later. */
async function abortedAfter(reason: 'WORKER_SHUTDOWN' | 'CANCELLED', ms: number): Promise<boolean> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const environment = new MockActivityEnvironment();
  return environment.run(async () => {
    const signal = attemptOverSoon();
    environment.cancel(reason);
    await vi.advanceTimersByTimeAsync(ms);
    return signal.aborted;
  });
}

describe('an activity that would begin from the start', () => {
  it('may go on for thirty seconds where its worker stops', async () => {
    expect(await abortedAfter('WORKER_SHUTDOWN', 29_999)).toBe(false);
    expect(await abortedAfter('WORKER_SHUTDOWN', 30_000)).toBe(true);
  });

  it('ends at once when it is cancelled', async () => {
    expect(await abortedAfter('CANCELLED', 0)).toBe(true);
  });
});
