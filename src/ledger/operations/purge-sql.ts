import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import { IS_ROWS_LOST, IS_TOTALS_ROW } from '../batches/findings-sql.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import { CLOSED_BATCH_STATES, stateList } from '../database/states.ts';

/** before ($1): closed batches `b` that ended before it, in which nothing may still move, not purged since. */
const PURGEABLE = `b.state IN ${CLOSED_BATCH_STATES}
  AND (b.purged_at IS NULL OR b.purged_at < coalesce(b.finished_at, b.started_at))
  AND coalesce(b.finished_at, b.started_at) < $1
  AND NOT EXISTS (
    SELECT 1 FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
    WHERE bi.batch_id = b.batch_id AND bi.outcome IS NULL AND i.state IN ${stateList(REOPENING_STATES)}
  )`;

/** before, application (null: of all). Locked, so that none is opened again meanwhile. */
export const PURGEABLE_BATCHES = `/* purgeable-batches */
SELECT b.batch_id, b.sha256 FROM batch b
WHERE ${PURGEABLE} AND ($2::text IS NULL OR b.application = $2)
ORDER BY b.seq
FOR UPDATE OF b`;

/** before, application: the others that have such batches; none when it is null. */
export const OTHERS_OF_THAT_AGE = `/* others-of-that-age */
SELECT DISTINCT b.application FROM batch b
WHERE ${PURGEABLE} AND b.application <> $2
ORDER BY b.application`;

/** batches: their invoices, locked in the order of a staging, so that no file that is being staged attaches to one whose content goes meanwhile. */
export const LOCK_PURGED_INVOICES = `/* lock-purged-invoices */
SELECT count(*) AS n FROM (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id IN (SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = ANY ($1::text[]) AND bi.invoice_id IS NOT NULL)
  ORDER BY i.identity
  FOR UPDATE OF i
) locked`;

/**
 * Invoices of these batches ($1) that no batch holds whose words stay: as an array, and each looked up by itself (OFFSET 0), so that no table is read
 * as a whole for them.
 */
const OF_PURGED_BATCHES = `ARRAY(SELECT DISTINCT bi.invoice_id
  FROM batch_invoice bi
  WHERE bi.batch_id = ANY ($1::text[]) AND bi.invoice_id IS NOT NULL
    AND NOT EXISTS (
      SELECT 1 FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
      WHERE other.invoice_id = bi.invoice_id AND b.purged_at IS NULL AND NOT b.batch_id = ANY ($1::text[])
      OFFSET 0
    ))`;

/** What went out, and every earlier generation; what may be retried keeps its current content. */
const CONTENTS = `FROM invoice_content c
WHERE c.invoice_id = ANY(${OF_PURGED_BATCHES})
  AND EXISTS (SELECT 1 FROM invoice i WHERE i.invoice_id = c.invoice_id AND (i.state = 'issued' OR c.generation < i.generation) OFFSET 0)`;

/** A next generation freezes bytes of its own: the old ones have no use once an invoice is at its end. */
const BODIES = `FROM invoice_body c
WHERE c.invoice_id = ANY(${OF_PURGED_BATCHES})
  AND EXISTS (
    SELECT 1 FROM invoice i WHERE i.invoice_id = c.invoice_id
      AND (i.state IN ('issued', 'failed', 'rejected') OR c.generation < i.generation)
    OFFSET 0
  )`;

/** Without those by which a report counts the rows that are in no invoice. */
const FINDINGS = `FROM finding f
WHERE f.batch_id = ANY ($1::text[]) AND NOT ${IS_ROWS_LOST} AND NOT ${IS_TOTALS_ROW}`;

/** The words of the row go. */
const REWORD_TOTALS_ROWS = `/* reword-totals-rows */
UPDATE finding f SET finding = '{"row":' || coalesce(substring(f.finding FROM '"row":([0-9]+)'), 'null')
  || ',"column":null,"code":"totals-row","message":"It is a totals row and not part of an invoice","severity":"warning"}'
WHERE f.batch_id = ANY ($1::text[]) AND ${IS_TOTALS_ROW}`;
const ROW_FINDINGS = `batch_id = ANY ($1::text[]) AND findings IS NOT NULL`;

/** Deliveries about these invoices, under whatever generation. Their hash and their verdict stay: a repeated one is still known. */
const DELIVERIES = `raw <> ''::bytea AND service_id IN (
  SELECT i.service_id FROM invoice i WHERE i.invoice_id = ANY(${OF_PURGED_BATCHES}) AND i.service_id IS NOT NULL
  UNION SELECT g.service_id FROM invoice_generation g WHERE g.invoice_id = ANY(${OF_PURGED_BATCHES}) AND g.service_id IS NOT NULL
)`;

/** Counts what a purge would remove, by kind. `n` is a number of rows. */
export const COUNT_PURGE = {
  contents: `/* count-purge */ SELECT count(*) AS n ${CONTENTS}`,
  bodies: `/* count-purge */ SELECT count(*) AS n ${BODIES}`,
  findings: `/* count-purge */ SELECT (SELECT count(*) ${FINDINGS}) + (SELECT count(*) FROM batch_invoice WHERE ${ROW_FINDINGS}) AS n`,
  deliveries: `/* count-purge */ SELECT count(*) AS n FROM delivery WHERE ${DELIVERIES}`,
} as const;

/** In this order; $1: the batches. */
export const PURGE_STATEMENTS: readonly string[] = [
  `/* purge-bodies */ DELETE ${BODIES}`,
  `/* purge-contents */ DELETE ${CONTENTS}`,
  `/* purge-tries */ DELETE FROM invoice_try t WHERE t.invoice_id = ANY(${OF_PURGED_BATCHES})`,
  `/* purge-findings */ DELETE ${FINDINGS}`,
  REWORD_TOTALS_ROWS,
  `/* purge-row-findings */ UPDATE batch_invoice SET findings = NULL,
     reason_code = CASE WHEN outcome = 'invalid' THEN coalesce(reason_code, 'purged') ELSE reason_code END,
     reason_message = CASE WHEN outcome = 'invalid' THEN coalesce(reason_message, 'Removed by a purge; the report of the time says it.') ELSE reason_message END
   WHERE ${ROW_FINDINGS}`,
  `/* purge-deliveries */ UPDATE delivery SET raw = ''::bytea WHERE ${DELIVERIES}`,
];

/** batches, now. */
export const MARK_PURGED = `/* mark-purged */
UPDATE batch SET purged_at = $2 WHERE batch_id = ANY ($1::text[])`;

/**
 * hashes, application (null: all, which keep their copies in one place): those of which every batch is closed and purged,
 * and was not opened again since.
 */
export const PURGED_FILES = `/* purged-files */
SELECT sha256 FROM batch WHERE sha256 = ANY ($1::text[]) AND ($2::text IS NULL OR application = $2)
GROUP BY sha256
HAVING bool_and(state IN ${CLOSED_BATCH_STATES} AND coalesce(purged_at >= coalesce(finished_at, started_at), false))`;

/** batchId. */
export const PURGED_AT = `/* purged-at */
SELECT purged_at FROM batch WHERE batch_id = $1`;
