import type { Queries } from '../database/database.ts';
import { CLOSED_BATCH_STATES } from '../database/states.ts';
import { FORGET_BATCH_ROWS, FORGET_ROW_ORDER } from './batch-rows-sql.ts';
import { restoreGenerations } from './correct-invoices-sql.ts';

/** Reason of an invoice without a line in the batch that owns it: the file is read anew, and other batches wait for it. */
const READ_ANEW = 'file-read-anew';

/** Invoices of batch $1 of which that is the reason: found by the index of what has one. */
const KEPT = `k.owner_batch = $1 AND k.reason_code = '${READ_ANEW}'`;

/** What batch $1 has staged, or kept when it was read anew: an array of invoice ids, computed once. */
const STAGED = `ARRAY(
  SELECT mine.invoice_id FROM batch_invoice mine WHERE mine.batch_id = $1 AND mine.invoice_id IS NOT NULL
  UNION ALL SELECT k.invoice_id FROM invoice k WHERE ${KEPT})`;

/** What batch $1 kept when it was read anew, and has not staged again. */
const LEFT_OVER = `ARRAY(
  SELECT k.invoice_id FROM invoice k
  WHERE ${KEPT} AND NOT EXISTS (SELECT 1 FROM batch_invoice mine WHERE mine.invoice_id = k.invoice_id AND mine.batch_id = $1))`;

/** A line of another batch that holds invoice `i` as it is. */
const IS_OTHER_LINE = `other.invoice_id = i.invoice_id AND other.batch_id <> $1 AND other.outcome IS NULL`;

const NOBODY_ELSE_WAITS = `NOT EXISTS (SELECT 1 FROM batch_invoice other WHERE ${IS_OTHER_LINE} OFFSET 0)`;

/**
 * batchId: what it never sent, locked in the order in which stagings lock. A portion of another file that attaches itself to one of these is waited for, so
 * that the next statements see its lines; one that comes later waits, and then finds what was passed on and nothing else.
 */
function lockUnsent(invoices: string): string {
  return `/* lock-unsent */
SELECT count(*) AS invoices FROM (
  SELECT i.invoice_id FROM invoice i
  WHERE i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND i.state IN ('staged', 'held')
  ORDER BY i.identity
  FOR UPDATE OF i
) locked`;
}

/** batchId: the batches that wait for these; none of them moves on before what is passed on to it is committed. */
function lockHeirs(invoices: string): string {
  return `/* lock-heirs */
SELECT b.batch_id FROM batch b
WHERE b.batch_id = ANY(ARRAY(
  SELECT DISTINCT other.batch_id
  FROM unnest(${invoices}) AS mine(invoice_id)
  JOIN LATERAL (
    SELECT own.invoice_id FROM invoice own
    WHERE own.invoice_id = mine.invoice_id AND own.owner_batch = $1 AND own.state = 'staged' OFFSET 0
  ) i ON true
  JOIN LATERAL (SELECT other.batch_id FROM batch_invoice other WHERE ${IS_OTHER_LINE} OFFSET 0) other ON true))
ORDER BY b.batch_id
FOR SHARE`;
}

/**
 * batchId, is read anew or not: what it never sent and another batch waits for.
 *
 *   read anew, an open batch waits  -> kept: this batch sends it when it has staged it again
 *   a batch in staging waits        -> the oldest of them owns it, and sends it
 *   only other batches wait         -> the oldest owns it, an open one before a closed one, and there it is held
 *
 * A batch past its staging may have sent the page already, or may have held all that it owns: what came to it then would wait for nobody, or be sent against
 * an operator's word. Held, it tells somebody, and a retry finds it.
 */
function passOnUnsent(invoices: string): string {
  return `/* pass-on-unsent */
WITH heir AS (
  SELECT i.invoice_id, h.batch_id,
    CASE WHEN $2::text::boolean AND h.is_open THEN 'keeps' WHEN h.is_staging THEN 'sends' ELSE 'holds' END AS what
  FROM invoice i
  JOIN LATERAL (
    SELECT b.batch_id, b.state = 'staging' AS is_staging, b.state NOT IN ${CLOSED_BATCH_STATES} AS is_open
    FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
    WHERE ${IS_OTHER_LINE}
    ORDER BY b.state <> 'staging', b.state IN ${CLOSED_BATCH_STATES}, b.seq LIMIT 1
  ) h ON true
  WHERE i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND i.state = 'staged'
)
UPDATE invoice i SET
  owner_batch = CASE WHEN heir.what = 'keeps' THEN i.owner_batch ELSE heir.batch_id END,
  state = CASE WHEN heir.what = 'holds' THEN 'held' ELSE i.state END,
  reason_code = CASE heir.what WHEN 'keeps' THEN '${READ_ANEW}' WHEN 'holds' THEN 'not-sent' END,
  reason_message = CASE heir.what
    WHEN 'keeps' THEN 'The file that sends this invoice was stopped while it was read, and is read anew.'
    WHEN 'holds' THEN 'The file that was to send this invoice was not read to its end, or has it no more. Drop this file again, or retry the invoice, to send it.' END
FROM heir
WHERE i.invoice_id = heir.invoice_id AND i.owner_batch = $1 AND i.state = 'staged'`;
}

/** batchId: what only this staging knew and nobody ever sent. */
function forgetUnsent(invoices: string): string {
  return `/* forget-unsent */
WITH forgotten AS (
  DELETE FROM invoice i
  WHERE i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND i.state = 'staged' AND i.generation = 1 AND i.attempts = 0
    AND ${NOBODY_ELSE_WAITS}
  RETURNING i.invoice_id
)
DELETE FROM invoice_content c WHERE c.invoice_id = ANY(ARRAY(SELECT invoice_id FROM forgotten))`;
}

/** The statements that give up what a staging has not sent, for a set of its invoices. */
function giveUp(invoices: string) {
  return {
    lock: lockUnsent(invoices),
    lockHeirs: lockHeirs(invoices),
    passOn: passOnUnsent(invoices),
    restore: restoreGenerations(`i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND ${NOBODY_ELSE_WAITS}`),
    forget: forgetUnsent(invoices),
  };
}

const ALL = giveUp(STAGED);
const LEFT = giveUp(LEFT_OVER);

/** batchId. */
const FORGET_BATCH_INVOICES = `/* forget-batch-invoices */
DELETE FROM batch_invoice WHERE batch_id = $1`;

/** batchId. */
const FORGET_FINDINGS = `/* forget-findings */
DELETE FROM finding WHERE batch_id = $1`;

/**
 * Leaves nothing of a staging; runs inside a transaction that holds the batch's row. What it had corrected is again as it was. `isReadAnew`: the file is
 * staged again, and until then the batch keeps the invoices that open batches wait for.
 */
export async function forgetStaging(queries: Queries, batchId: string, isReadAnew: boolean): Promise<void> {
  await queries.query(ALL.lock, [batchId]);
  await queries.query(ALL.lockHeirs, [batchId]);
  await queries.query(ALL.passOn, [batchId, String(isReadAnew)]);
  for (const text of [ALL.restore, ALL.forget, FORGET_BATCH_INVOICES, FORGET_FINDINGS])
    await queries.query(text, [batchId]);
  await forgetRows(queries, batchId);
}

/** At the end of a staging: gives up what the batch kept when it was read anew, and no longer has. */
export async function passOnLeftOver(queries: Queries, batchId: string): Promise<void> {
  const [locked] = await queries.query<{ invoices: number }>(LEFT.lock, [batchId]);
  if (locked === undefined || locked.invoices === 0) return;
  await queries.query(LEFT.lockHeirs, [batchId]);
  await queries.query(LEFT.passOn, [batchId, String(false)]);
  await queries.query(LEFT.restore, [batchId]);
  await queries.query(LEFT.forget, [batchId]);
}

/** Drops the raw rows of a file. */
export async function forgetRows(queries: Queries, batchId: string): Promise<void> {
  await queries.query(FORGET_ROW_ORDER, [batchId]);
  await queries.query(FORGET_BATCH_ROWS, [batchId]);
}
