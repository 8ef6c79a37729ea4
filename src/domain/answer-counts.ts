/** What the service has said of the invoices that a batch sends: numbers of invoices. */
export interface AnswerCounts {
  /** POSTs that were refused for good. */
  readonly refused: number;
  /** POSTs that were accepted, whatever became of the invoice later. */
  readonly accepted: number;
  readonly issued: number;
  /** Failed, confirmed, and not sent again by the retry policy of the service profile. */
  readonly failed: number;
  /** Failed, and the retry policy sends them again. */
  readonly retryable: number;
  /** Accepted, without a final word. */
  readonly pending: number;
  /** A POST may have arrived, or will be repeated; no answer is final. */
  readonly unanswered: number;
}

const NOTHING: AnswerCounts = {
  ...{ refused: 0, accepted: 0, issued: 0, failed: 0 },
  ...{ retryable: 0, pending: 0, unanswered: 0 },
};

/** The answers since `before`. What an earlier run or round met does not count for this one. */
export function answersSince(now: AnswerCounts, before: AnswerCounts = NOTHING): AnswerCounts {
  const since = (Object.keys(before) as (keyof AnswerCounts)[]).map((of) => [of, Math.max(0, now[of] - before[of])]);
  return Object.fromEntries(since) as Record<keyof AnswerCounts, number>;
}

/** True when all counts are 0: the service has said nothing of these invoices, and none of them waits for an answer. */
export function isNothing(counts: AnswerCounts): boolean {
  return Object.values(counts).every((invoices) => invoices === 0);
}

/** Below this many answers, or final words, a share says nothing. */
const FEWEST = 50;

type Shared = Pick<AnswerCounts, 'refused' | 'accepted' | 'issued' | 'failed'>;

/**
 * The share of a batch that goes wrong, 0 to 1: r + (1 - r) * f, where r is the refused share of the answers and f the failed share of the final words
 * (issued and failed). Each of the two counts from 50 on.
 */
export function failureShare({ refused, accepted, issued, failed }: Shared): number {
  const r = shareOf(refused, refused + accepted);
  return r + (1 - r) * shareOf(failed, issued + failed);
}

/** The largest share that so many refusals and failures can come to, whatever else the service has said. */
export function largestFailureShare({ refused, failed }: Pick<Shared, 'refused' | 'failed'>): number {
  const accepted = Math.max(0, FEWEST - refused);
  const issued = Math.max(0, FEWEST - failed);
  return failureShare({ refused, accepted, failed, issued });
}

function shareOf(part: number, all: number): number {
  return all < FEWEST ? 0 : part / all;
}
