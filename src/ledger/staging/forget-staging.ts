import type { Reason } from '../../domain/invoice.ts';
import type { Command } from '../../domain/machine/invoice-machine.ts';
import { changeLocked } from '../change-invoices.ts';
import { CLOSED_BATCH_STATES } from '../sql.ts';
import type { Queries } from '../../database/database.ts';
import { forgetRows } from './batch-row-store.ts';

/** Reason of an invoice that other batches wait for, and that has no line in its owner's batch because Lote reads that batch's file anew. */
const READ_ANEW = 'file-read-anew';

/** SQL condition: the invoice belongs to batch $1 with that reason. It uses the index of invoices with a reason. */
const KEPT = `k.owner_batch = $1 AND k.reason_code = '${READ_ANEW}'`;

/** The invoices that batch $1 has staged, or kept when its file was read anew: an array of ids, computed once. */
const STAGED = `ARRAY(
  SELECT mine.invoice_id FROM batch_invoice mine WHERE mine.batch_id = $1 AND mine.invoice_id IS NOT NULL
  UNION ALL SELECT k.invoice_id FROM invoice k WHERE ${KEPT})`;

/** The invoices that batch $1 kept when it was read anew, and has not staged again. */
const LEFT_OVER = `ARRAY(
  SELECT k.invoice_id FROM invoice k
  WHERE ${KEPT} AND NOT EXISTS (SELECT 1 FROM batch_invoice mine WHERE mine.invoice_id = k.invoice_id AND mine.batch_id = $1))`;

/** SQL condition: a line of another batch holds the present invoice `i`. */
const IS_OTHER_LINE = `other.invoice_id = i.invoice_id AND other.batch_id <> $1 AND other.outcome IS NULL`;

const NOBODY_ELSE_WAITS = `NOT EXISTS (SELECT 1 FROM batch_invoice other WHERE ${IS_OTHER_LINE} OFFSET 0)`;

/**
 * Makes SQL with parameter batchId that locks the batch's unsent invoices in the order of stagings. If a portion of another file attaches
 * to an invoice before the lock, the next statements see its lines; after the lock, that portion finds the invoice passed on.
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

/** Makes SQL with parameter batchId that locks the waiting batches. None of them can continue before the invoices passed to it are committed. */
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

/** Makes SQL with parameter batchId: the batch's unsent invoices that another batch waits for. A batch in staging comes first, then an open one. */
function findHeirs(invoices: string): string {
  return `/* find-heirs */
SELECT i.invoice_id, h.batch_id, h.is_staging, h.is_open
FROM invoice i
JOIN LATERAL (
  SELECT b.batch_id, b.state = 'staging' AS is_staging, b.state NOT IN ${CLOSED_BATCH_STATES} AS is_open
  FROM batch_invoice other JOIN batch b ON b.batch_id = other.batch_id
  WHERE ${IS_OTHER_LINE}
  ORDER BY b.state <> 'staging', b.state IN ${CLOSED_BATCH_STATES}, b.seq LIMIT 1
) h ON true
WHERE i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND i.state = 'staged'`;
}

interface HeirRow {
  readonly invoiceId: number;
  readonly batchId: string;
  readonly isStaging: boolean;
  readonly isOpen: boolean;
}

/**
 * Makes SQL with parameter batchId: the batch's corrections that no other batch waits for. The newest generation that a line of another batch holds
 * becomes the present one again. A closed one of these batches, if any, becomes the owner, so that no batch sends the invoice by itself.
 */
function findCorrected(invoices: string): string {
  return `/* find-corrected */
SELECT i.invoice_id, held.generation, held.batch_id
FROM invoice i
JOIN LATERAL (
  SELECT line.generation, line.batch_id FROM batch_invoice line JOIN batch b ON b.batch_id = line.batch_id
  WHERE line.invoice_id = i.invoice_id AND line.generation BETWEEN 1 AND i.generation - 1 AND line.batch_id <> $1
  ORDER BY line.generation DESC, b.state NOT IN ${CLOSED_BATCH_STATES}, b.seq LIMIT 1
) held ON true
WHERE i.invoice_id = ANY(${invoices}) AND i.owner_batch = $1 AND i.generation > 1 AND ${NOBODY_ELSE_WAITS}`;
}

interface CorrectedRow {
  readonly invoiceId: number;
  readonly generation: number;
  readonly batchId: string;
}

/** Makes SQL with parameter batchId that deletes unsent invoices that only this staging knew. */
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

const FORGET_LINES = `/* forget-lines */
WITH lines AS (DELETE FROM batch_invoice WHERE batch_id = $1)
DELETE FROM finding WHERE batch_id = $1`;

/**
 * Removes all of a staging and undoes its corrections. Call it in a transaction that locks the batch's row.
 * `isReadAnew`: until the file is staged again, the batch keeps the invoices that open batches wait for.
 */
export async function forgetStaging(queries: Queries, batchId: string, isReadAnew: boolean): Promise<void> {
  await giveUp(queries, batchId, { invoices: STAGED, isReadAnew });
  await queries.query(FORGET_LINES, [batchId]);
  await forgetRows(queries, batchId);
}

/** At the end of a staging, gives up the invoices that the batch kept when its file was read anew, and that its file no longer has. */
export async function passOnLeftOver(queries: Queries, batchId: string): Promise<void> {
  await giveUp(queries, batchId, { invoices: LEFT_OVER, isReadAnew: false });
}

/** Gives up `invoices`, an SQL array of ids. */
async function giveUp(
  queries: Queries,
  batchId: string,
  { invoices, isReadAnew }: { readonly invoices: string; readonly isReadAnew: boolean },
): Promise<void> {
  const [locked] = await queries.query<{ invoices: number }>(lockUnsent(invoices), [batchId]);
  if (locked === undefined || locked.invoices === 0) return;
  await queries.query(lockHeirs(invoices), [batchId]);
  const heirs = await queries.query<HeirRow>(findHeirs(invoices), [batchId]);
  await changeLocked(queries, heirs, (_, heir) => passedOn(batchId, heir, isReadAnew));
  const corrected = await queries.query<CorrectedRow>(findCorrected(invoices), [batchId]);
  await changeLocked(queries, corrected, (_, { generation, batchId: heir }) => {
    return { kind: 'restore', batchId, generation, heir };
  });
  await queries.query(forgetUnsent(invoices), [batchId]);
}

const IS_READ_ANEW: Reason = {
  code: READ_ANEW,
  message: 'The file that sends this invoice was stopped while it was read, and is read anew.',
};
const NOT_SENT: Reason = {
  code: 'not-sent',
  message:
    'The file that was to send this invoice was not read to its end, or has it no more. Drop this file again, or retry the invoice, to send it.',
};

/**
 *   read anew, an open batch waits  -> kept: this batch sends it when it has staged it again
 *   a batch in staging waits        -> the oldest of them owns it, and sends it
 *   only other batches wait         -> the oldest owns and holds it, an open one before a closed one
 */
function passedOn(batchId: string, heir: HeirRow, isReadAnew: boolean): Command {
  if (isReadAnew && heir.isOpen) return { kind: 'pass-on', batchId, heir: batchId, reason: IS_READ_ANEW };
  return { kind: 'pass-on', batchId, heir: heir.batchId, reason: heir.isStaging ? null : NOT_SENT };
}
