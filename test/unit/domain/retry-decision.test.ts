import { describe, expect, it } from 'vitest';
import { INVOICE_STATES } from '../../../src/domain/invoice-state.ts';
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
  it.each([
    ['held', {}, {}, 'release'],
    ['failed', {}, {}, 'regenerate'],
    ['failed', { flags: ['failure-unconfirmed'] }, {}, 'regenerate'],
    ['failed', { flags: ['failure-unconfirmed'] }, { unattended: true }, 'needs-accept-duplicate-risk'],
    ['failed', {}, { unattended: true }, 'regenerate'],
    ['rejected', {}, {}, 'regenerate'],
    ['rejected', {}, { rejectionIsProof: false }, 'needs-accept-duplicate-risk'],
    ['rejected', {}, { rejectionIsProof: false, acceptDuplicateRisk: true }, 'regenerate'],
    ['unknown', {}, {}, 'repeat'],
    ['unknown', { frozenAt: 76 * HOUR }, {}, 'needs-accept-duplicate-risk'],
    ['unknown', { frozenAt: 76 * HOUR + 1 }, {}, 'repeat'],
    ['unknown', { frozenAt: 105 * HOUR }, {}, 'needs-accept-duplicate-risk'],
    ['unknown', { frozenAt: 1 }, { acceptDuplicateRisk: true }, 'repeat'],
    ['unknown', { frozenAt: null }, {}, 'needs-accept-duplicate-risk'],
    ['unknown', { frozenAt: null }, { acceptDuplicateRisk: true }, 'abandon'],
    ['failed', { generation: 3 }, {}, 'generations-spent'],
    ['held', { generation: 3 }, {}, 'release'],
    ['unknown', { generation: 3 }, {}, 'repeat'],
    ['failed', {}, { rejectionIsProof: false }, 'regenerate'],
    ['held', { flags: ['failure-unconfirmed'] }, { unattended: true }, 'release'],
    ['held', { totalUnconfirmed: true }, { acceptDuplicateRisk: true }, 'total-unconfirmed'],
    ['failed', { totalUnconfirmed: true }, { unattended: true }, 'total-unconfirmed'],
    ['unknown', { totalUnconfirmed: true }, {}, 'total-unconfirmed'],
    ['failed', { free: false }, { acceptDuplicateRisk: true }, 'owned-by-running-batch'],
  ] as const)('%s with %j under %j: %s', (state, candidate, policy, expected) => {
    expect(decide({ state, ...candidate }, policy)).toBe(expected);
  });

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

  it('never moves an invoice in any other state, whatever is accepted', () => {
    const others = INVOICE_STATES.filter((state) => !(RETRY_BY_ROW_STATES as readonly string[]).includes(state));

    expect(others).toContain('issued');
    for (const state of others) expect(decide({ state }, { acceptDuplicateRisk: true })).toBe('state-not-retryable');
  });
});
