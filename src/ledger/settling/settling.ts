import { createBatcher } from '../../platform/batcher.ts';
import { isLedgerAway } from '../../domain/errors.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { Status } from '../../domain/machine/invoice-answers.ts';
import type { FencingToken } from '../../domain/records/batch-record.ts';
import { shareUnderToken } from '../batches/batch.ts';
import {
  invoicesOfBatch,
  isOfPage,
  onPage,
  PAGE_INVOICES,
  CLOSED_BATCH_STATES,
  isAheadSql,
  ISSUABLE_STATES,
  sqlList,
} from '../database/sql.ts';
import { changeInvoices, changeUnderToken } from '../change-invoices.ts';
import { type Database, onlyRow } from '../database/database.ts';
import { applyEvents, hear, type SettledInvoice } from './settled.ts';

/** An accepted invoice without a final word, to be polled by GET. `acceptedAt` is epoch milliseconds. */
export interface PendingInvoice {
  readonly invoiceId: number;
  readonly ordinal: number;
  readonly serviceId: string;
  readonly acceptedAt: number;
  /** How many of the planned polls are done. */
  readonly asks: number;
}

/** What a GET said of a document of an invoice; a correction may have given the invoice another one meanwhile. */
export interface StatusUpdate extends Status {
  readonly invoiceId: number;
}

/** Numbers of invoices of one page by what the page still waits for. Times are epoch milliseconds. */
export interface PageProgress {
  /** `staged`/`sending` that this batch owns. */
  readonly unsent: number;
  /** `accepted`, of any owner. */
  readonly accepted: number;
  /** `staged`/`sending` that another batch owns, and that is not closed. */
  readonly attached: number;
  /** `accepted` with a stored `failed` event: `unconfirmedFailures` lists them. */
  readonly reportedFailed: number;
  /** Earliest acceptance among the `accepted`; null when none. */
  readonly oldestAcceptedAt: number | null;
  readonly newestAcceptedAt: number | null;
}

/** End of a page. Times are epoch milliseconds. */
interface ClosePage {
  readonly acceptedBefore: number;
  readonly reason: Reason;
  /** Of what was never tried; left out: `reason`. */
  readonly unsent?: Reason;
  readonly now: number;
  readonly fencingToken?: FencingToken;
}

/** batchId, page: what of it is open. */
const OPEN_OF_PAGE = invoicesOfBatch(`i.state IN ${sqlList(OPEN_STATES)} AND ${onPage('$2::integer')}`);

/** batchId: what it owns and is open. Invoices of other batches are theirs to close. */
const OPEN_OF_BATCH = invoicesOfBatch(`i.owner_batch = $1 AND i.state IN ${sqlList(OPEN_STATES)}`);

/** That the batch that owns invoice `i` may still send it. */
const OWNER_IS_OPEN = `(SELECT owner.state FROM batch owner WHERE owner.batch_id = i.owner_batch) NOT IN ${CLOSED_BATCH_STATES}`;

/** That batch $1 waits for live invoice `i` of another batch. */
const IS_ATTACHED = `(i.state IN ('staged', 'sending') AND i.owner_batch <> $1 AND ${OWNER_IS_OPEN})`;

interface ProgressRow extends PageProgress {
  /** Those that `UNAPPLIED_EVENTS` must look at. */
  readonly unapplied: number;
}

/**
 * batchId, page: one pass over the page, with the stored events about what is not issued. A later generation or a flag may mean a document beside the
 * current one: such an invoice counts as unapplied at every reading.
 */
const PAGE_PROGRESS = `/* page-progress */
SELECT count(*) FILTER (WHERE i.state IN ('staged', 'sending') AND i.owner_batch = $1) AS unsent,
  count(*) FILTER (WHERE i.state = 'accepted') AS accepted, count(*) FILTER (WHERE ${IS_ATTACHED}) AS attached,
  count(*) FILTER (WHERE event.failed AND i.state = 'accepted') AS reported_failed,
  min(i.accepted_at) FILTER (WHERE i.state = 'accepted') AS oldest_accepted_at,
  max(i.accepted_at) FILTER (WHERE i.state = 'accepted') AS newest_accepted_at,
  count(*) FILTER (WHERE event.issued OR i.generation > 1 OR i.flags <> '{}') AS unapplied
FROM live_line i
LEFT JOIN LATERAL (
  SELECT bool_or(d.verdict = 'issued') AS issued, bool_or(d.verdict = 'failed') AS failed
  FROM delivery d
  WHERE i.state IN ${ISSUABLE_STATES} AND d.service_id = i.service_id AND d.verdict IS NOT NULL
  OFFSET 0
) event ON true
WHERE ${isOfPage()}`;

/**
 * batchId, page: a line that `page-progress` calls `accepted` or attached. What was sent last is settled last, so that a page that is open is found open
 * at its end, after a few rows.
 */
const PAGE_IS_OPEN = `/* page-is-open */
SELECT i.ordinal FROM live_line i
WHERE ${isOfPage()} AND (i.state = 'accepted' OR ${IS_ATTACHED})
ORDER BY i.ordinal DESC
LIMIT 1`;

/** batchId, page, acceptedBefore, limit. */
const PENDING_INVOICES = `/* pending-invoices */
SELECT i.invoice_id, i.ordinal, i.service_id, i.accepted_at, i.asks FROM live_line i
WHERE ${isOfPage()} AND i.state = 'accepted' AND (i.accepted_at < $3 OR ${isAheadSql('i.accepted_at', '$3')})
ORDER BY i.asks, i.ordinal
LIMIT $4`;

/**
 * batchId, page: service ids with a stored `issued` event that is not applied to any generation of the page's invoices. A GET must confirm `failed` events
 * (unconfirmed-failures).
 */
const UNAPPLIED_EVENTS = `/* unapplied-events */
SELECT known.service_id FROM (
  SELECT i.service_id FROM invoice i
  WHERE i.invoice_id = ANY(${PAGE_INVOICES}) AND i.state IN ${ISSUABLE_STATES}
  UNION ALL
  SELECT g.service_id FROM invoice_generation g
  WHERE g.invoice_id = ANY(${PAGE_INVOICES}) AND g.service_id IS NOT NULL AND g.state <> 'issued'
) known
WHERE EXISTS (SELECT 1 FROM delivery d WHERE d.service_id = known.service_id AND d.verdict = 'issued')`;

/** The way of accepted invoices to a final word, and the closing of pages and batches. */
export function createSettling(database: Database) {
  const recordStatus = createBatcher<StatusUpdate, readonly SettledInvoice[]>({
    keyOf: (update) => update.invoiceId,
    isOutage: isLedgerAway,
    write: async (updates) => (await hear(database, [], updates)).settled,
  });

  const readProgress = async (...page: [batchId: string, page: number]) => {
    const { unapplied, ...progress } = onlyRow(await database.query<ProgressRow>(PAGE_PROGRESS, page));
    return { unapplied, progress };
  };

  return {
    /** First applies events that are stored and not applied: the process that stored them may have died in between. */
    async pageProgress(batchId: string, page: number): Promise<PageProgress> {
      const { unapplied, progress } = await readProgress(batchId, page);
      const missed =
        unapplied === 0 ? [] : await database.query<{ serviceId: string }>(UNAPPLIED_EVENTS, [batchId, page]);
      if (missed.length === 0) return progress;
      await applyEvents(
        database,
        missed.map((row) => row.serviceId),
      );
      return (await readProgress(batchId, page)).progress;
    },

    /** Whether `pageProgress` would count `accepted` or `attached` invoices, without a look at stored events. */
    isPageOpen: async (batchId: string, page: number): Promise<boolean> =>
      (await database.query(PAGE_IS_OPEN, [batchId, page])).length > 0,

    /** `accepted` invoices of a page accepted before `acceptedBefore` (any owner), fewest polls first. */
    pendingInvoices: (batchId: string, page: number, acceptedBefore: number, limit: number) =>
      database.query<PendingInvoice>(PENDING_INVOICES, [batchId, page, acceptedBefore, limit]),

    /** Counts the poll; `issued` and `failed` move the invoice by the rules of `hear`. */
    async recordStatus(updates: readonly StatusUpdate[]): Promise<readonly SettledInvoice[]> {
      return (await recordStatus.submit(updates)).flat();
    },

    /** End of a page: accepted -> unsettled where accepted before `acceptedBefore`; owned staged -> held; owned sending -> unknown if it may exist, else held. */
    async closePage(batchId: string, page: number, close: ClosePage): Promise<void> {
      const { acceptedBefore, reason, unsent = reason, now, fencingToken } = close;
      const selection = { name: 'close-page', ids: OPEN_OF_PAGE, params: [batchId, page] };
      await changeUnderToken(database, { batchId, fencingToken }, selection, ({ state }) =>
        state === 'accepted'
          ? { kind: 'expire', acceptedBefore, reason, now }
          : { kind: 'close', batchId, reason, unsent, now },
      );
    },

    /** End of a batch that runs: the same for whatever it owns and a failed page left open. Returns how many. */
    async closeBatch(
      batchId: string,
      { reason, now, fencingToken }: Pick<ClosePage, 'reason' | 'now' | 'fencingToken'>,
    ): Promise<number> {
      const selection = { name: 'close-batch', ids: OPEN_OF_BATCH, params: [batchId] };
      return database.transaction(async (queries) => {
        const { state } = await shareUnderToken(queries, batchId, fencingToken);
        // Reconciliation may be repeating what a batch left `unknown`, as soon as the batch is closed.
        if (state !== 'running' && state !== 'paused') return 0;
        const command = { kind: 'close', batchId, reason, unsent: reason, now } as const;
        return (await changeInvoices(queries, selection, () => command)).length;
      });
    },
  };
}
