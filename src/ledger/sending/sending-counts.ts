import type { AnswerCounts } from '../../domain/answer-counts.ts';
import { FLAGS_AGAINST_POLICY } from '../../domain/retry-decision.ts';
import { type Database, onlyRow } from '../database/database.ts';
import { arrayLiteral } from '../database/sql.ts';

const DAY_MS = 86_400_000;

/** Which answers are counted. */
export interface CountAnswers {
  /** Of the retry policy: what failed with one of them, below so many generations, is sent again. */
  readonly retryableCodes: readonly string[];
  readonly maxGenerations: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Where an unsent invoice of a batch stands, and whose it is. */
export interface UnsentInvoice {
  readonly ordinal: number;
  readonly merchantNif: string;
}

/**
 * batchId, first ordinal, last ordinal, reason codes of the retry policy, generations that it allows. What the policy sends again is counted apart: not a
 * failure that only an event reported, nor what may have another document. Invoices that another batch sends are not counted.
 */
const COUNT_ANSWERS = `/* count-answers */
WITH own AS (
  SELECT i.state, i.state = 'failed' AND i.reason_code = ANY($4::text[]) AND i.generation < $5::integer
    AND NOT i.flags && '{${FLAGS_AGAINST_POLICY.join(',')}}' AS retryable
  FROM live_line i WHERE i.batch_id = $1 AND i.ordinal BETWEEN $2 AND $3 AND i.owner_batch = $1
)
SELECT
  count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state IN ('accepted', 'issued', 'failed', 'unsettled')) AS accepted,
  count(*) FILTER (WHERE state = 'issued') AS issued,
  count(*) FILTER (WHERE state = 'failed' AND NOT retryable) AS failed,
  count(*) FILTER (WHERE retryable) AS retryable,
  count(*) FILTER (WHERE state = 'accepted') AS pending,
  count(*) FILTER (WHERE state IN ('sending', 'unknown', 'unsettled')) AS unanswered
FROM own`;

/**
 * batchId: by the indexes of what has a reason, and of `failed` events. An event that came a day before its batch began counts when the page confirms the
 * failure.
 */
const MOST_FAILURES = `/* most-failures */
SELECT count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state = 'failed') + (
    SELECT count(*) FROM batch b
    CROSS JOIN LATERAL (
      SELECT d.service_id FROM delivery d WHERE d.verdict = 'failed' AND d.received_at > b.started_at - ${DAY_MS} OFFSET 0
    ) d
    WHERE b.batch_id = $1 AND (SELECT i.owner_batch FROM invoice i WHERE i.service_id = d.service_id AND i.state = 'accepted') = $1
  ) AS failed
FROM invoice WHERE owner_batch = $1 AND reason_code IS NOT NULL`;

/** batchId, limit, first ordinal, merchant's NIF or null: where the first of its unsent invoices stand, but for those of that merchant. */
const FIRST_UNSENT = `/* first-unsent */
SELECT i.ordinal, i.merchant_nif FROM live_line i
WHERE i.batch_id = $1 AND i.ordinal >= $3 AND i.owner_batch = $1 AND i.state IN ('staged', 'sending') AND ($4::text IS NULL OR i.merchant_nif <> $4)
ORDER BY i.ordinal
LIMIT $2`;

/** The largest integer of the database: no file has so many invoices. */
const LAST_ORDINAL = 2_147_483_647;

/** What a batch has still to send, and what the service has said of the rest. */
export function createSendingCounts(database: Database) {
  return {
    /** The first of its unsent invoices (owned, `staged` or `sending`), at most `limit`; from the ordinal `from` on, and but for those of the merchant `butOf`. Ascending. */
    firstUnsent: (
      batchId: string,
      {
        limit,
        from = 1,
        butOf = null,
      }: { readonly limit: number; readonly from?: number; readonly butOf?: string | null },
    ) => database.query<UnsentInvoice>(FIRST_UNSENT, [batchId, limit, from, butOf]),

    /** What the service has said of the owned invoices of the batch with ordinal in [from, to], or of all. */
    async countAnswers(
      batchId: string,
      { retryableCodes, maxGenerations, from = 1, to = LAST_ORDINAL }: CountAnswers,
    ): Promise<AnswerCounts> {
      const codes = arrayLiteral(retryableCodes);
      return onlyRow(await database.query<AnswerCounts>(COUNT_ANSWERS, [batchId, from, to, codes, maxGenerations]));
    },

    /** At most so many of its invoices were refused, and failed or were reported to have: no other invoice is read. */
    mostFailures: async (batchId: string): Promise<Pick<AnswerCounts, 'refused' | 'failed'>> =>
      onlyRow(await database.query<Pick<AnswerCounts, 'refused' | 'failed'>>(MOST_FAILURES, [batchId])),
  };
}
