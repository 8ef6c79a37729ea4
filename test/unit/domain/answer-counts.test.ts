import { describe, expect, it } from 'vitest';
import {
  answersSince,
  isNothing,
  failureShare,
  largestFailureShare,
  type AnswerCounts,
  firstInvoicesWaitMs,
  isSampleSent,
  judgeFirstInvoices,
  mayStillDecide,
} from '../../../src/domain/answer-counts.ts';

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

describe('the judgement of the first invoices', () => {
  it.each<readonly [string, Partial<AnswerCounts>, string]>([
    ['nothing said', {}, 'go-on'],
    ['ten refused', { refused: 10 }, 'refused'],
    ['nine refused', { refused: 9 }, 'go-on'],
    ['all refused but one that is open', { refused: 19, unanswered: 1 }, 'go-on'],
    ['all failed', { failed: 20 }, 'failed'],
    ['nine failed', { failed: 9 }, 'go-on'],
    ['refused and failed', { refused: 5, failed: 5 }, 'failed'],
    ['all failed but one that was issued', { failed: 19, issued: 1 }, 'go-on'],
    ['half failed, half open: these may all be issued', { failed: 10, pending: 10 }, 'go-on'],
    ['more than half failed, whatever the open ones come to', { failed: 11, pending: 9 }, 'failed'],
    ['half failed, half sent again by the retry policy', { failed: 10, retryable: 10 }, 'go-on'],
    ['all sent again by the retry policy', { retryable: 20 }, 'go-on'],
    ['all without a final word', { pending: 20 }, 'go-on'],
    ['ten refused, one pending, one unanswered', { refused: 10, pending: 1, unanswered: 1 }, 'go-on'],
    ['half failed, the others pending or unanswered', { failed: 10, pending: 5, unanswered: 5 }, 'go-on'],
  ])('%s', (_, counts, verdict) => {
    expect(judgeFirstInvoices({ ...NOTHING, ...counts }, 0.5)).toBe(verdict);
  });

  it('of which all failed prove it under any budget', () => {
    expect(judgeFirstInvoices({ ...NOTHING, failed: 20 }, 1)).toBe('failed');
    expect(judgeFirstInvoices({ ...NOTHING, failed: 19, pending: 1 }, 1)).toBe('go-on');
  });

  it.each<readonly [string, Partial<AnswerCounts>, boolean]>([
    ['all pending', { pending: 20 }, true],
    ['one issued', { pending: 19, issued: 1 }, false],
    ['none pending', { failed: 20 }, false],
    ['too few to prove anything', { pending: 9, unanswered: 11 }, false],
    ['just enough to prove something', { pending: 10, unanswered: 10 }, true],
    ['just enough with those that were refused or failed', { refused: 4, failed: 5, pending: 1 }, true],
  ])('may change by waiting: %s', (_, counts, may) => {
    expect(mayStillDecide({ ...NOTHING, ...counts })).toBe(may);
  });

  it.each([
    [20, false],
    [11, false],
    [10, true],
    [0, true],
  ])('with %d of twenty still to be sent has its sample: %s', (left, isSent) => {
    expect(isSampleSent({ from: 31, to: 50 }, left)).toBe(isSent);
  });

  it.each([
    [900_000, 30_000],
    [120_000, 30_000],
    [8_000, 2_000],
  ])('with a settle time of %d ms is waited for %d ms', (settleMs, waitMs) => {
    expect(firstInvoicesWaitMs(settleMs)).toBe(waitMs);
  });
});
