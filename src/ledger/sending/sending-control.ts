import { arrayLiteral } from '../sql.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import type { BatchStop, ClaimingRun, SendingControl } from '../../domain/records/batch-record.ts';
import type { AnswerCounts } from '../../domain/answer-counts.ts';
import { FLAGS_AGAINST_POLICY } from '../../domain/retry-decision.ts';

/** A batch, and the run that holds its claim. */
export interface SendingBatch extends ClaimingRun {
  readonly batchId: string;
}

/**
 * Parameters: batchId, workflowId, runId, version, paused, stop or null, JSON of the `BatchStop` or null. Only the run
 * that holds the claim can write, and its latest order applies. A resume ends the stop.
 */
const RECORD_CONTROL = `/* record-control */
UPDATE batch SET state = CASE WHEN $5::text::boolean THEN 'paused' ELSE 'running' END, sending_stop = $6, control_version = $4,
  stopped = CASE WHEN $7::text IS NOT NULL THEN $7 WHEN sending_stop IS NULL THEN stopped END
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND control_version <= $4 AND state IN ('running', 'paused')
RETURNING batch_id`;

/** Parameters: batchId, workflowId, runId, JSON of the `BatchStop` or null. An earlier stop stays. Activities of a stopped run send nothing more. */
const RECORD_STOP = `/* record-stop */
UPDATE batch SET stopped = CASE WHEN $4::text IS NOT NULL THEN coalesce(stopped, $4) END,
  sending_stop = CASE WHEN $4::text IS NOT NULL THEN coalesce(sending_stop, 'ended') ELSE sending_stop END
WHERE batch_id = $1 AND workflow_id = $2 AND run_id = $3 AND state IN ('staging', 'running', 'paused')`;

const SENDING_BATCHES = `/* sending-batches */
SELECT batch_id, workflow_id, run_id FROM batch
WHERE batch_id = ANY($1::text[]) AND state IN ('running', 'paused') AND sending_stop IS NULL`;

/** The operators' orders about sending. The batch writes them, and every process that sends for it reads them. */
export function createSendingControl(database: Database) {
  return {
    /** Writes the order of the run that holds the claim of an open batch. Returns false if another run has the claim, or a later order exists. */
    async recordControl(control: SendingControl): Promise<boolean> {
      const { batchId, workflowId, runId, version, paused, cancelled, order } = control;
      const what = cancelled ? 'cancelled' : paused ? 'paused' : null;
      const stop: BatchStop | null = what && { at: Date.now(), who: null, why: null, ...order, what };
      const params = [batchId, workflowId, runId, version, String(paused), what, stop && JSON.stringify(stop)];
      return (await database.query(RECORD_CONTROL, params)).length > 0;
    },

    /** Records why an open batch sends nothing more, if this run holds its claim; null ends the stop. */
    async recordStop({ batchId, workflowId, runId }: SendingBatch, stop: BatchStop | null): Promise<void> {
      await database.query(RECORD_STOP, [batchId, workflowId, runId, stop && JSON.stringify(stop)]);
    },

    /** Returns those of the batches that are not closed, paused or cancelled. */
    sendingBatches: (batchIds: readonly string[]) =>
      database.query<SendingBatch>(SENDING_BATCHES, [arrayLiteral(batchIds)]),
  };
}

const DAY_MS = 86_400_000;

/** Selects the answers to count. */
export interface CountAnswers {
  /** Codes of the retry policy: it sends failures with one of them again, below `maxGenerations` generations. */
  readonly retryableCodes: readonly string[];
  readonly maxGenerations: number;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The place of an unsent invoice in a batch, and its merchant. */
export interface UnsentInvoice {
  readonly ordinal: number;
  readonly merchantNif: string;
}

/**
 * Parameters: batchId, first ordinal, last ordinal, reason codes of the retry policy, generations that it allows. Counts separately the failures that
 * the policy sends again. It sends none that only an event reported, and none that may have another document. Leaves out invoices of other batches.
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
 * Parameter: batchId. Uses the indexes of invoices with a reason and of `failed` events. An event that came more than a
 * day before the batch began counts only when the page confirms the failure.
 */
const MOST_FAILURES = `/* most-failures */
SELECT count(*) FILTER (WHERE state = 'rejected') AS refused,
  count(*) FILTER (WHERE state = 'failed') + (
    SELECT count(*) FROM batch b
    CROSS JOIN LATERAL (
      SELECT d.service_id FROM delivery d WHERE d.verdict = 'failed' AND d.received_at > b.started_at - ${DAY_MS} OFFSET 0
    ) d
    WHERE b.batch_id = $1 AND (
      SELECT i.owner_batch FROM document own JOIN invoice i ON i.invoice_id = own.invoice_id
      WHERE own.service_id = d.service_id AND i.service_id = d.service_id AND i.state = 'accepted'
    ) = $1
  ) AS failed
FROM invoice WHERE owner_batch = $1 AND reason_code IS NOT NULL`;

/** Parameters: batchId, limit, first ordinal, merchant's NIF or null. Finds the first unsent invoices, without those of that merchant. */
const FIRST_UNSENT = `/* first-unsent */
SELECT i.ordinal, i.merchant_nif FROM live_line i
WHERE i.batch_id = $1 AND i.ordinal >= $3 AND i.owner_batch = $1 AND i.state IN ('staged', 'sending') AND ($4::text IS NULL OR i.merchant_nif <> $4)
ORDER BY i.ordinal
LIMIT $2`;

/** The largest integer of the database: no file has so many invoices. */
const LAST_ORDINAL = 2_147_483_647;

/** Counts the unsent invoices of a batch, and the service's answers for the rest. */
export function createSendingCounts(database: Database) {
  return {
    /** Returns at most `limit` unsent invoices (owned, `staged` or `sending`) from ordinal `from` on, without those of merchant `butOf`. Ascending. */
    firstUnsent: (
      batchId: string,
      {
        limit,
        from = 1,
        butOf = null,
      }: { readonly limit: number; readonly from?: number; readonly butOf?: string | null },
    ) => database.query<UnsentInvoice>(FIRST_UNSENT, [batchId, limit, from, butOf]),

    /** Counts the service's answers for the owned invoices of the batch with ordinal in [from, to], or for all. */
    async countAnswers(
      batchId: string,
      { retryableCodes, maxGenerations, from = 1, to = LAST_ORDINAL }: CountAnswers,
    ): Promise<AnswerCounts> {
      const codes = arrayLiteral(retryableCodes);
      return onlyRow(await database.query<AnswerCounts>(COUNT_ANSWERS, [batchId, from, to, codes, maxGenerations]));
    },

    /** Returns upper bounds for the batch's invoices that were refused, and that failed or were reported failed. Reads no other invoices. */
    mostFailures: async (batchId: string): Promise<Pick<AnswerCounts, 'refused' | 'failed'>> =>
      onlyRow(await database.query<Pick<AnswerCounts, 'refused' | 'failed'>>(MOST_FAILURES, [batchId])),
  };
}
