import { describe, expect, it } from 'vitest';
import type { AnswerCounts } from '../../../src/domain/answer-counts.ts';
import {
  firstInvoicesWaitMs,
  isSampleSent,
  judgeFirstInvoices,
  mayStillDecide,
} from '../../../src/domain/first-invoices.ts';

const NOTHING: AnswerCounts = {
  ...{ refused: 0, accepted: 0, issued: 0, failed: 0 },
  ...{ retryable: 0, pending: 0, unanswered: 0 },
};

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
