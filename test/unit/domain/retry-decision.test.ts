import { describe, expect, it } from 'vitest';
import {
  decideRetry,
  FLAGS_AGAINST_POLICY,
  RETRY_BY_ROW_STATES,
  NEVER_REPEATED_REASONS,
  SPENT_KEY_REASONS,
  type RetryCandidate,
  type RetryPolicy,
} from '../../../src/domain/retry-decision.ts';

const HOUR = 3_600_000;
const POLICY: RetryPolicy = {
  maxGenerations: 3,
  retentionMs: 24 * HOUR,
  rejectionIsProof: true,
  acceptDuplicateRisk: false,
  now: 100 * HOUR,
};
const CANDIDATE: RetryCandidate = {
  state: 'failed',
  generation: 1,
  reasonCode: null,
  flags: [],
  frozenAt: 99 * HOUR,
  free: true,
  totalUnconfirmed: false,
};

function decide(candidate: Partial<RetryCandidate>, policy: Partial<RetryPolicy> = {}): string {
  const decision = decideRetry({ ...CANDIDATE, ...candidate }, { ...POLICY, ...policy });
  return 'move' in decision ? decision.move : decision.refusal;
}

describe('decideRetry', () => {
  it.each(FLAGS_AGAINST_POLICY)('lets no policy send a failure again that has the flag "%s"', (flag) => {
    expect(decide({ state: 'failed', flags: [flag] }, { unattended: true })).toBe('needs-accept-duplicate-risk');
  });

  it.each(SPENT_KEY_REASONS)('gives up a key with "%s" only at an accepted risk', (reasonCode) => {
    expect(decide({ state: 'unknown', reasonCode })).not.toBe('abandon');
    expect(decide({ state: 'unknown', reasonCode, frozenAt: 1 })).toBe('needs-accept-duplicate-risk');
    expect(decide({ state: 'unknown', reasonCode }, { acceptDuplicateRisk: true })).toBe('abandon');
  });

  it('repeats a spent key inside the retention window, but never one that somebody else used', () => {
    for (const reasonCode of SPENT_KEY_REASONS) {
      const isForeign = NEVER_REPEATED_REASONS.includes(reasonCode);
      expect(decide({ state: 'unknown', reasonCode })).toBe(isForeign ? 'needs-accept-duplicate-risk' : 'repeat');
    }
  });

  it('knows a key that another sender used, and those that mostly bring the same answer', () => {
    expect(NEVER_REPEATED_REASONS).toEqual(['key-known-with-other-bytes']);
    expect(SPENT_KEY_REASONS).toEqual([
      'key-known-with-other-bytes',
      'answer-too-long',
      'earlier-key-unclear',
      'refused-after-lost-answer',
      'service-id-taken',
      'stored-error',
    ]);
  });

  it.each(['issued-in-earlier-generation', 'second-service-id'])(
    'lets nothing go by itself that is flagged "%s": a second document may be alive',
    (flag) => {
      for (const state of RETRY_BY_ROW_STATES) {
        expect(decide({ state, flags: [flag] })).toBe('needs-accept-duplicate-risk');
      }
    },
  );
});
