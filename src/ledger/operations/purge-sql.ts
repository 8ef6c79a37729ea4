import { REOPENING_STATES } from '../../domain/invoice-state.ts';
import { IS_ROWS_LOST, IS_TOTALS_ROW } from '../batches/findings-sql.ts';
import { INVOICE_OF_LINE } from '../batches/page-of-sql.ts';
import { CLOSED_BATCH_STATES, stateList } from '../database/states.ts';
import { IS_OF_KNOWN_DOCUMENT } from '../webhooks/known-document-sql.ts';

/** Every word of batch `b` was purged, and it was not opened again since. */
const IS_PURGED = `(b.state IN ${CLOSED_BATCH_STATES} AND coalesce(b.purged_at >= coalesce(b.finished_at, b.started_at), false))`;

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

/** before, application (null: of all): batches of that age that no purge may touch yet, and how many of their invoices are not at their end. */
export const STAYING_BATCHES = `/* staying-batches */
SELECT b.batch_id, b.state, (
    SELECT count(*) FROM batch_invoice bi JOIN ${INVOICE_OF_LINE}
    WHERE bi.batch_id = b.batch_id AND bi.outcome IS NULL AND i.state IN ${stateList(REOPENING_STATES)}
  ) AS invoices
FROM batch b
WHERE coalesce(b.finished_at, b.started_at) < $1 AND ($2::text IS NULL OR b.application = $2)
  AND NOT ${IS_PURGED} AND NOT (${PURGEABLE})
ORDER BY b.seq`;

/** That a batch holds invoice `i` whose words stay. */
const IS_HELD = `EXISTS (
  SELECT 1 FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id
  WHERE bi.invoice_id = i.invoice_id AND NOT ${IS_PURGED}
  OFFSET 0
)`;

/** before ($1): raw bytes `d` of that age. */
const OLD_BYTES = `d.raw <> ''::bytea AND d.received_at < $1`;

/**
 * before, application (null: of all): invoices of purged batches of which a delivery came when their batches were purged already. What it said may have
 * ended them, so that their contents and bytes are to be looked at again.
 */
export const DELIVERED_LATER = `/* purge-delivered-later */
SELECT DISTINCT i.invoice_id
FROM delivery d
CROSS JOIN LATERAL (
  SELECT now_it.invoice_id FROM invoice now_it WHERE now_it.service_id = d.service_id
  UNION SELECT g.invoice_id FROM invoice_generation g WHERE g.service_id = d.service_id
) named
JOIN invoice i ON i.invoice_id = named.invoice_id
WHERE ${OLD_BYTES} AND ($2::text IS NULL OR i.application = $2)
  AND i.state NOT IN ${stateList(REOPENING_STATES)} AND NOT ${IS_HELD}`;

/** These wait for a word of the service, or may do so: a delivery that nobody knows may be about one of them. */
const WAITING = stateList(['sending', 'accepted', 'unknown', 'unsettled']);

/** before ($1), application ($2; null: of all): when the first of these invoices was frozen, of batches from before; null: none waits. */
const WAITED_FOR_SINCE = `(
  SELECT min(waiting.frozen_at)
  FROM batch b
  CROSS JOIN LATERAL (
    SELECT min(body.frozen_at) AS frozen_at
    FROM batch_invoice bi
    JOIN ${INVOICE_OF_LINE}
    JOIN LATERAL (SELECT c.frozen_at FROM invoice_body c WHERE c.invoice_id = i.invoice_id OFFSET 0) body ON true
    WHERE bi.batch_id = b.batch_id AND bi.outcome IS NULL AND i.state IN ${WAITING}
    OFFSET 0
  ) waiting
  WHERE b.started_at < $1 AND ($2::text IS NULL OR b.application = $2) AND NOT ${IS_PURGED}
)`;

/**
 * before ($1), application ($2; null: of all): bytes that name no document of an invoice. They stay while an invoice waits that was frozen before they came.
 * What no receiver has named an application for may be of each that has a batch from before.
 */
const NOBODYS = `${OLD_BYTES} AND NOT ${IS_OF_KNOWN_DOCUMENT}
  AND ($2::text IS NULL OR d.application = $2 OR (d.application IS NULL AND NOT EXISTS (
    SELECT 1 FROM batch b WHERE b.application <> $2 AND b.started_at <= d.received_at AND NOT ${IS_PURGED})))
  AND d.received_at < coalesce(${WAITED_FOR_SINCE}, $1)`;

/** before, application. `n` is a number of rows. */
export const COUNT_NOBODYS = `/* count-purge */ SELECT count(*) AS n FROM delivery d WHERE ${NOBODYS}`;

/** before, application. Hash, verdict and service id stay: what is matched later says the same. */
export const PURGE_NOBODYS = `/* purge-nobodys-deliveries */ UPDATE delivery d SET raw = ''::bytea WHERE ${NOBODYS}`;

/** batches, and invoices of which a delivery came later: their invoices, locked in the order of a staging, so that no file that is being staged attaches to one whose content goes meanwhile. */
export const LOCK_PURGED_INVOICES = `/* lock-purged-invoices */
SELECT count(*) AS n FROM (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id = ANY(ARRAY(
    SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = ANY ($1::text[]) AND bi.invoice_id IS NOT NULL
    UNION SELECT unnest($2::bigint[])))
  ORDER BY i.identity
  FOR UPDATE OF i
) locked`;

/**
 * Invoices of these batches ($1), and those of which a delivery came later ($2), that no batch holds whose words stay: as an array, and each looked up by itself
 * (OFFSET 0), so that no table is read as a whole for them.
 */
const OF_PURGED_BATCHES = `ARRAY(SELECT i.invoice_id
  FROM (
    SELECT bi.invoice_id FROM batch_invoice bi WHERE bi.batch_id = ANY ($1::text[]) AND bi.invoice_id IS NOT NULL
    UNION SELECT unnest($2::bigint[])
  ) i
  WHERE NOT EXISTS (
      SELECT 1 FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
      WHERE other.invoice_id = i.invoice_id AND NOT ${IS_PURGED} AND NOT b.batch_id = ANY ($1::text[])
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

/** Counts what a purge would remove, by kind; batches, and but for findings those of which a delivery came later. `n` is a number of rows. */
export const COUNT_PURGE = {
  contents: `/* count-purge */ SELECT count(*) AS n ${CONTENTS}`,
  bodies: `/* count-purge */ SELECT count(*) AS n ${BODIES}`,
  findings: `/* count-purge */ SELECT (SELECT count(*) ${FINDINGS}) + (SELECT count(*) FROM batch_invoice WHERE ${ROW_FINDINGS}) AS n`,
  deliveries: `/* count-purge */ SELECT count(*) AS n FROM delivery WHERE ${DELIVERIES}`,
} as const;

/** In this order; batches, and invoices of which a delivery came later. */
export const PURGE_INVOICES: readonly string[] = [
  `/* purge-bodies */ DELETE ${BODIES}`,
  `/* purge-contents */ DELETE ${CONTENTS}`,
  `/* purge-tries */ DELETE FROM invoice_try t WHERE t.invoice_id = ANY(${OF_PURGED_BATCHES})`,
  `/* purge-deliveries */ UPDATE delivery SET raw = ''::bytea WHERE ${DELIVERIES}`,
];

/** In this order; batches. */
export const PURGE_FINDINGS: readonly string[] = [
  `/* purge-findings */ DELETE ${FINDINGS}`,
  REWORD_TOTALS_ROWS,
  `/* purge-row-findings */ UPDATE batch_invoice SET findings = NULL,
     reason_code = CASE WHEN outcome = 'invalid' THEN coalesce(reason_code, 'purged') ELSE reason_code END,
     reason_message = CASE WHEN outcome = 'invalid' THEN coalesce(reason_message, 'Removed by a purge; the report of the time says it.') ELSE reason_message END
   WHERE ${ROW_FINDINGS}`,
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
