import { OPEN_STATES, type Outcome } from '../../domain/invoice-state.ts';
import type { AppliedDeliveries } from '../../domain/ports/ledger/delivery-ledger.ts';
import type {
  PageProgress,
  SettledInvoice,
  SettlingLedger,
  StatusUpdate,
} from '../../domain/ports/ledger/settling-ledger.ts';
import { shareUnderToken } from '../batches/claim-proof.ts';
import { INVOICE_OF_LINE, invoicesOfBatch, LINES_OF_PAGE, PAGE_INVOICES } from '../batches/page-of-sql.ts';
import { isAheadSql } from '../database/ahead-sql.ts';
import { column } from '../database/array-literal.ts';
import { createBatcher } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { CLOSED_BATCH_STATES, fromStates, stateList } from '../database/states.ts';
import { isOfApplication } from './same-application-sql.ts';
import { IS_UNANSWERED } from '../sending/hold-unsent-sql.ts';
import { REVIVE_ISSUED_OF_PAGE } from './revive-issued-sql.ts';
import { FAIL_OTHER_DOCUMENTS, RECORD_STATUS, type RecordedStatus } from './record-status-sql.ts';
import { applyEvents, applyPastEvents, reviveIssued, settledInvoices } from './settled.ts';
import { applyDeliveries } from '../webhooks/apply-deliveries.ts';

const OVER = `((i.state IN ${fromStates('expire')} AND (i.accepted_at < $3 OR ${isAheadSql('i.accepted_at', '$6')})) OR (i.owner_batch = $1 AND i.state IN ('staged', 'sending')))`;

/**
 * batchId, page, acceptedBefore, reason code, reason message, now, then code and message for what was never sent, then
 * code and message (or null) for what was handed out and has no answer.
 *
 * `sending` becomes `held` only if every answer is recorded and none was lost. The reason of its last try is kept: it says
 * more than the page's.
 */
const CLOSE_PAGE = `/* close-page */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND ${OVER}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE
    WHEN i.state = 'accepted' THEN 'unsettled'
    WHEN i.state = 'staged' OR i.exposure = 'none' THEN 'held'
    ELSE 'unknown' END,
  reason_code = CASE WHEN i.state = 'accepted' THEN $4 WHEN $9::text IS NOT NULL AND ${IS_UNANSWERED} THEN $9 ELSE coalesce(i.reason_code, CASE WHEN i.state = 'staged' THEN $7 ELSE $4 END) END,
  reason_message = CASE
    WHEN $9::text IS NOT NULL AND ${IS_UNANSWERED} THEN $10
    WHEN i.state <> 'accepted' AND i.reason_code IS NOT NULL THEN i.reason_message
    WHEN i.state = 'staged' THEN $8
    ELSE $5 END,
  changed_at = $6
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${OVER}`;

/** Of batch $1, and open. */
const LEFT = `i.owner_batch = $1 AND i.state IN ${stateList(OPEN_STATES)}`;

/**
 * batchId, reason code, reason message, now, then code and message (or null) for what was handed out and has no answer.
 *
 * It closes what a page that failed left open, as `close-page` does, for all pages of the batch. It closes only what this
 * batch owns: invoices of other batches are theirs to close.
 */
const CLOSE_BATCH = `/* close-batch */
WITH target AS (
  SELECT i.invoice_id
  FROM invoice i
  WHERE i.invoice_id = ANY(${invoicesOfBatch(LEFT)}) AND ${LEFT}
  ORDER BY i.invoice_id
  FOR UPDATE OF i
)
UPDATE invoice i SET
  state = CASE
    WHEN i.state = 'accepted' THEN 'unsettled'
    WHEN i.state = 'staged' OR i.exposure = 'none' THEN 'held'
    ELSE 'unknown' END,
  reason_code = CASE
    WHEN $5::text IS NOT NULL AND ${IS_UNANSWERED} THEN $5
    WHEN i.state <> 'accepted' THEN coalesce(i.reason_code, $2)
    ELSE $2 END,
  reason_message = CASE
    WHEN $5::text IS NOT NULL AND ${IS_UNANSWERED} THEN $6
    WHEN i.state <> 'accepted' AND i.reason_code IS NOT NULL THEN i.reason_message
    ELSE $3 END,
  changed_at = $4
FROM target t
WHERE i.invoice_id = t.invoice_id AND ${LEFT}
RETURNING i.invoice_id`;

interface ProgressRow {
  readonly outcome: string;
  /** Null where no invoice is known. */
  readonly owned: boolean | null;
  /** Its state is the invoice's, and somebody still works on it. */
  readonly live: boolean;
  readonly invoices: number;
  readonly oldest_accepted_at: number | null;
  readonly newest_accepted_at: number | null;
  /** Those that `UNAPPLIED_EVENTS` must look at. */
  readonly unapplied: number;
  readonly reported_failed: number;
}

/**
 * batchId, page: one pass over the page, with the stored events about what is not issued; who called it failed may have died before it applied them. An invoice has a document
 * beside its current one only in a later generation, or with a flag: such a one counts as unapplied at every reading.
 */
const PAGE_PROGRESS = `/* page-progress */
SELECT coalesce(bi.outcome, i.state) AS outcome, i.owner_batch = $1 AS owned,
  bi.outcome IS NULL AND (i.state = 'accepted' OR i.owner_batch = $1
    OR (SELECT owner.state FROM batch owner WHERE owner.batch_id = i.owner_batch) NOT IN ${CLOSED_BATCH_STATES}) AS live,
  count(*) AS invoices, min(i.accepted_at) AS oldest_accepted_at, max(i.accepted_at) AS newest_accepted_at,
  count(*) FILTER (WHERE event.issued OR (bi.outcome IS NULL AND (i.generation > 1 OR i.flags <> '{}'))) AS unapplied,
  count(*) FILTER (WHERE event.failed AND i.state = 'accepted') AS reported_failed
FROM batch_invoice bi
LEFT JOIN ${INVOICE_OF_LINE}
LEFT JOIN LATERAL (
  SELECT bool_or(d.verdict = 'issued') AS issued, bool_or(d.verdict = 'failed') AS failed
  FROM delivery d
  WHERE bi.outcome IS NULL AND i.state IN ${fromStates('issue')} AND d.service_id = i.service_id AND d.verdict IS NOT NULL
    AND ${isOfApplication('i.application')}
  OFFSET 0
) event ON true
WHERE ${LINES_OF_PAGE}
GROUP BY 1, 2, 3`;

/** batchId, page: the lines that `page-progress` calls `accepted` or attached. */
const PAGE_OPEN = `/* page-open */
SELECT count(*) AS open
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
WHERE ${LINES_OF_PAGE} AND bi.outcome IS NULL
  AND (i.state = 'accepted' OR (i.state IN ('staged', 'sending') AND i.owner_batch <> $1
    AND (SELECT owner.state FROM batch owner WHERE owner.batch_id = i.owner_batch) NOT IN ${CLOSED_BATCH_STATES}))`;

interface PendingRow {
  readonly invoice_id: number;
  readonly ordinal: number;
  readonly service_id: string;
  readonly accepted_at: number;
  readonly asks: number;
}

/** batchId, page, acceptedBefore, limit. */
const PENDING_INVOICES = `/* pending-invoices */
SELECT i.invoice_id, bi.ordinal, i.service_id, i.accepted_at, i.asks
FROM batch_invoice bi
JOIN ${INVOICE_OF_LINE}
WHERE ${LINES_OF_PAGE} AND bi.outcome IS NULL AND i.state = 'accepted' AND (i.accepted_at < $3 OR ${isAheadSql('i.accepted_at', '$3')})
ORDER BY i.asks, bi.ordinal
LIMIT $4`;

/**
 * batchId, page: service ids of the page's invoices for which an `issued` event is stored and not applied, in this
 * generation or an earlier one. `failed` events are not applied: a GET must confirm them (unconfirmed-failures).
 */
const UNAPPLIED_EVENTS = `/* unapplied-events */
SELECT known.service_id FROM (
  SELECT i.service_id FROM invoice i
  WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND i.state IN ${fromStates('issue')}
  UNION ALL
  SELECT g.service_id FROM invoice_generation g
  WHERE g.invoice_id = ANY(${PAGE_INVOICES}) AND g.service_id IS NOT NULL AND g.state <> 'issued'
) known
WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = known.service_id AND d.verdict = 'issued')`;

/** Records what a GET says of an invoice, and closes what got no final word. */
export function createSettling(database: Database): SettlingLedger {
  const recordStatus = createBatcher<StatusUpdate, readonly SettledInvoice[]>({
    keyOf: (update) => update.invoiceId,
    write: (updates) => writeStatus(database, updates),
  });

  return {
    async pageProgress(batchId, page) {
      const rows = await database.query<ProgressRow>(PAGE_PROGRESS, [batchId, page]);
      const applied = rows.some(({ unapplied }) => unapplied > 0) ? await applyMissed(database, batchId, page) : null;
      if (applied === null) return pageProgress(rows, []);
      return pageProgress(await database.query<ProgressRow>(PAGE_PROGRESS, [batchId, page]), applied.settled);
    },

    async pageOpen(batchId, page) {
      const [row] = await database.query<{ open: number }>(PAGE_OPEN, [batchId, page]);
      return row?.open ?? 0;
    },

    async pendingInvoices(batchId, page, acceptedBefore, limit) {
      const rows = await database.query<PendingRow>(PENDING_INVOICES, [batchId, page, acceptedBefore, limit]);
      return rows.map((row) => ({
        invoiceId: row.invoice_id,
        ordinal: row.ordinal,
        serviceId: row.service_id,
        acceptedAt: row.accepted_at,
        asks: row.asks,
      }));
    },

    async recordStatus(updates) {
      return (await recordStatus(updates)).flat();
    },

    async closePage(batchId, page, { acceptedBefore, reason, unsent = reason, unanswered, now, fencingToken }) {
      const ofUnanswered = [unanswered?.code ?? null, unanswered?.message ?? null];
      const reasons = [reason.code, reason.message, now, unsent.code, unsent.message, ...ofUnanswered];
      await database.transaction(async (queries) => {
        await shareUnderToken(queries, batchId, fencingToken);
        await queries.query(CLOSE_PAGE, [batchId, page, acceptedBefore, ...reasons]);
      });
    },

    async closeBatch(batchId, { reason, unanswered, now, fencingToken }) {
      return database.transaction(async (queries) => {
        const { state } = await shareUnderToken(queries, batchId, fencingToken);
        // Reconciliation may be repeating what a batch left `unknown`, as soon as the batch is closed.
        if (state !== 'running' && state !== 'paused') return 0;
        const ofUnanswered = [unanswered?.code ?? null, unanswered?.message ?? null];
        return (await queries.query(CLOSE_BATCH, [batchId, reason.code, reason.message, now, ...ofUnanswered])).length;
      });
    },
  };
}

/** Null: there was nothing to apply. */
async function applyMissed(database: Database, batchId: string, page: number): Promise<AppliedDeliveries | null> {
  const unapplied = await database.query<{ service_id: string }>(UNAPPLIED_EVENTS, [batchId, page]);
  const applied =
    unapplied.length === 0
      ? null
      : await applyDeliveries(
          database,
          unapplied.map((row) => row.service_id),
        );
  const revived = await database.query<{ invoice_id: number }>(REVIVE_ISSUED_OF_PAGE, [batchId, page]);
  if (revived.length === 0) return applied;
  const settled = await settledInvoices(
    database,
    revived.map((row) => row.invoice_id),
  );
  return { toConfirm: [], ...applied, settled: [...(applied?.settled ?? []), ...[...settled.values()].flat()] };
}

async function writeStatus(
  database: Database,
  updates: readonly StatusUpdate[],
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const recorded = await database.query<RecordedStatus>(RECORD_STATUS, [
    column(updates, (one) => one.invoiceId),
    column(updates, (one) => one.status),
    column(updates, (one) => one.reason?.code ?? null),
    column(updates, (one) => one.reason?.message ?? null),
    column(updates, (one) => one.now),
    column(updates, (one) => one.serviceId),
    column(updates, (one) => one.asks ?? null),
    column(updates, (one) => one.unconfirmed ?? false),
  ]);
  const failed = recorded.flatMap((row) => (row.state === 'failed' && row.service_id !== null ? [row.service_id] : []));
  // An `issued` event may have come while the GET was on its way; it wins.
  await applyEvents(database, failed);
  await reviveIssued(
    database,
    recorded.filter((row) => row.state === 'failed' && row.issued_earlier).map((row) => row.invoice_id),
  );
  const settled = await settledInvoices(
    database,
    recorded.filter((row) => row.state !== 'accepted').map((row) => row.invoice_id),
  );
  return withPast(database, { updates, recorded, settled });
}

/**
 * Applies answers about other documents than the current one: a document that a correction has replaced meanwhile, or
 * the second one of a key that brought two. `issued` must reach every batch that called it failed.
 */
async function withPast(
  database: Database,
  written: {
    readonly updates: readonly StatusUpdate[];
    readonly recorded: readonly RecordedStatus[];
    readonly settled: ReadonlyMap<number, readonly SettledInvoice[]>;
  },
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const current = new Set(written.recorded.map((row) => row.service_id));
  const failed = written.updates.filter(({ status, serviceId }) => status === 'failed' && !current.has(serviceId));
  if (failed.length > 0)
    await database.query(FAIL_OTHER_DOCUMENTS, [
      column(failed, (one) => one.serviceId),
      column(failed, (one) => one.now),
    ]);
  const past = written.updates.filter(({ status, serviceId }) => status === 'issued' && !current.has(serviceId));
  if (past.length === 0) return written.settled;
  const found = await applyPastEvents(database, [], past);
  return new Map([
    ...written.settled,
    ...past.map(({ invoiceId, serviceId }) => [invoiceId, found.get(serviceId) ?? []] as const),
  ]);
}

function pageProgress(rows: readonly ProgressRow[], settled: readonly SettledInvoice[]): PageProgress {
  const counts: Partial<Record<Outcome, number>> = {};
  let unsent = 0;
  let accepted = 0;
  let attached = 0;
  let reportedFailed = 0;
  let oldestAcceptedAt: number | null = null;
  let newestAcceptedAt: number | null = null;
  for (const row of rows) {
    const outcome = row.outcome as Outcome;
    counts[outcome] = (counts[outcome] ?? 0) + row.invoices;
    reportedFailed += row.reported_failed;
    if (!row.live) continue;
    if (outcome === 'staged' || outcome === 'sending') {
      if (row.owned === true) unsent += row.invoices;
      else attached += row.invoices;
    }
    if (outcome === 'accepted') {
      accepted += row.invoices;
      oldestAcceptedAt = pick(Math.min, oldestAcceptedAt, row.oldest_accepted_at);
      newestAcceptedAt = pick(Math.max, newestAcceptedAt, row.newest_accepted_at);
    }
  }
  return { unsent, accepted, attached, reportedFailed, oldestAcceptedAt, newestAcceptedAt, counts, settled };
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return choose(a, b);
}
