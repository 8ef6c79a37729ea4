import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../../../src/service/profile/check-profile.ts';
import { retrySettings } from '../../../../src/app/worker/activity-deps.ts';

const HOUR = 3_600_000;

describe('the time in which a key is repeated', () => {
  it.each([
    [24, 24 * HOUR - 60_000],
    [0.5, HOUR / 2 - 60_000],
    [1 / 60, 30_000],
    [1 / 3_600, 500],
  ])(
    'of a service that keeps keys for %d h ends before a POST could arrive too late',
    (retentionHours, retentionMs) => {
      const profile = loadProfile(JSON.stringify({ idempotency: { retentionHours } }));
      expect(retrySettings(profile)).toMatchObject({ retentionMs });
    },
  );
});
