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
  const since = (of: keyof AnswerCounts): number => Math.max(0, now[of] - before[of]);
  return {
    refused: since('refused'),
    accepted: since('accepted'),
    issued: since('issued'),
    failed: since('failed'),
    retryable: since('retryable'),
    pending: since('pending'),
    unanswered: since('unanswered'),
  };
}

/** True when all counts are 0: the service has said nothing of these invoices, and none of them waits for an answer. */
export function isNothing(counts: AnswerCounts): boolean {
  return Object.values(counts).every((invoices) => invoices === 0);
}
