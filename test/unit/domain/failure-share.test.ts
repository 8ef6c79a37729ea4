import { describe, expect, it } from 'vitest';
import { answersSince, isNothing, failureShare, largestFailureShare } from '../../../src/domain/answer-counts.ts';
import type { AnswerCounts } from '../../../src/domain/answer-counts.ts';

const NOTHING: AnswerCounts = {
  ...{ refused: 0, accepted: 0, issued: 0, failed: 0 },
  ...{ retryable: 0, pending: 0, unanswered: 0 },
};

describe('the share of a batch that goes wrong', () => {
  it.each<readonly [string, Partial<AnswerCounts>, number]>([
    ['nothing said', {}, 0],
    ['49 refusals', { refused: 49 }, 0],
    ['50 refusals', { refused: 50 }, 1],
    ['a quarter refused, no final words', { refused: 25, accepted: 75 }, 0.25],
    ['49 final words, all failed', { accepted: 200, failed: 49 }, 0],
    ['50 final words, all failed', { accepted: 200, failed: 50 }, 1],
    ['a quarter failed', { accepted: 200, issued: 75, failed: 25 }, 0.25],
    ['half refused, half of the others failed', { refused: 100, accepted: 100, issued: 40, failed: 40 }, 0.75],
    ['what is sent again says nothing', { accepted: 200, issued: 50, retryable: 150 }, 0],
  ])('%s', (_, counts, share) => {
    expect(failureShare({ ...NOTHING, ...counts })).toBe(share);
  });

  it.each([
    [{ refused: 0, failed: 0 }, 0],
    [{ refused: 10, failed: 0 }, 0.2],
    [{ refused: 0, failed: 25 }, 0.5],
    [{ refused: 25, failed: 25 }, 0.75],
    [{ refused: 80, failed: 0 }, 1],
  ])('is at most that of the fewest answers that count: %o', (counts, share) => {
    expect(largestFailureShare(counts)).toBe(share);
  });

  it('counts from the beginning of the round on', () => {
    const before = { ...NOTHING, refused: 5, accepted: 10, failed: 10, pending: 3 };
    const now = { ...NOTHING, refused: 9, accepted: 30, issued: 2, failed: 11 };

    expect(answersSince(now, before)).toEqual({ ...NOTHING, refused: 4, accepted: 20, issued: 2, failed: 1 });
    expect(answersSince(now)).toEqual(now);
    expect(isNothing(answersSince(now, now))).toBe(true);
    expect(isNothing(now)).toBe(false);
  });
});
