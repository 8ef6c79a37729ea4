import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../src/service/profile.ts';
import { repeatWindowMs } from '../../../src/wiring/repeat-window.ts';

const HOUR = 3_600_000;

function windowOf(idempotency: object, limits: object): number {
  return repeatWindowMs(loadProfile(JSON.stringify({ idempotency, limits })));
}

describe('the time in which a key is repeated', () => {
  it('ends a minute before the service forgets it: a POST takes no longer', () => {
    expect(windowOf({ retentionHours: 24 }, {})).toBe(24 * HOUR - 60_000);
  });

  it('ends earlier by as long as all that may be under way wait for their place in the rate', () => {
    expect(windowOf({ retentionHours: 1 }, { requestsPerSecond: 2, maxConcurrency: 100 })).toBe(HOUR - 110_000);
  });

  it.each([
    [1 / 3_600, {}, 500],
    [1 / 60, { requestsPerSecond: 0.01 }, 30_000],
  ])('is half of a window of %d h that is shorter than such waits', (retentionHours, limits, expected) => {
    expect(windowOf({ retentionHours }, limits)).toBe(expected);
  });
});
