import { Batcher } from '../../platform/batcher.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { Status } from '../../domain/machine/invoice-answers.ts';
import type { FencingToken } from '../../domain/records/batch-record.ts';
import {
  invoicesOfBatch,
  isOfPage,
  onPage,
  PAGE_INVOICES,
  CLOSED_BATCH_STATES,
  isAheadSql,
  ISSUABLE_STATES,
  sqlList,
} from '../sql.ts';
import { changeUnderToken } from '../change-invoices.ts';
import { type Database, onlyRow } from '../../database/database.ts';
import { applyEvents, hear, type OpenDocument, type SettledInvoice } from './settled.ts';

/** An accepted invoice without a final word, to be polled by GET. `acceptedAt` is epoch milliseconds. */
export interface PendingInvoice extends Omit<OpenDocument, 'failedEvent'> {
  readonly ordinal: number;
  readonly acceptedAt: number;
  /** The number of planned polls that are done. */
  readonly asks: number;
}

/** The result of a GET for one document. A correction may have given the invoice another document in the meantime. */
export interface StatusUpdate extends Status {
  readonly invoiceId: number;
}

/** Counts the invoices of one page by what the page waits for. Times are epoch milliseconds. */
export interface PageProgress {
  /** Number of `staged`/`sending` invoices that this batch owns. */
  readonly unsent: number;
  /** Number of `accepted` invoices, of any owner. */
  readonly accepted: number;
  /** Number of `staged`/`sending` invoices that another open batch owns. */
  readonly attached: number;
  /** Number of `accepted` invoices with a stored `failed` event: `unconfirmedFailures` lists them. */
  readonly reportedFailed: number;
  /** Earliest acceptance among the `accepted`; null if there are none. */
  readonly oldestAcceptedAt: number | null;
  readonly newestAcceptedAt: number | null;
}

/** Input of `closePage`. Times are epoch milliseconds. */
interface ClosePage {
  readonly acceptedBefore: number;
  readonly reason: Reason;
  /** The reason for invoices that were never tried; the default is `reason`. */
  readonly unsent?: Reason;
  readonly now: number;
  readonly fencingToken?: FencingToken;
}

/** Parameters: batchId, page. The open invoices of the page. */
const OPEN_OF_PAGE = invoicesOfBatch(`i.state IN ${sqlList(OPEN_STATES)} AND ${onPage('$2::integer')}`);

/** SQL condition: the batch that owns invoice `i` may still send it. */
const OWNER_IS_OPEN = `(SELECT owner.state FROM batch owner WHERE owner.batch_id = i.owner_batch) NOT IN ${CLOSED_BATCH_STATES}`;

/** SQL condition: batch $1 waits for live invoice `i` of another batch. */
const IS_ATTACHED = `(i.state IN ('staged', 'sending') AND i.owner_batch <> $1 AND ${OWNER_IS_OPEN})`;

interface ProgressRow extends PageProgress {
  /** Number of invoices that `UNAPPLIED_EVENTS` must check. */
  readonly unapplied: number;
}

/**
 * Parameters: batchId, page. One pass over the page, with the stored events about invoices that are not issued. A later
 * generation or a flag may mean a document beside the current one, so such an invoice always counts as unapplied.
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
 * Parameters: batchId, page. Finds a line that `page-progress` counts as `accepted` or attached. The last sent invoices
 * settle last, so a backward scan finds an open page after a few rows.
 */
const PAGE_IS_OPEN = `/* page-is-open */
SELECT i.ordinal FROM live_line i
WHERE ${isOfPage()} AND (i.state = 'accepted' OR ${IS_ATTACHED})
ORDER BY i.ordinal DESC
LIMIT 1`;

const PENDING_INVOICES = `/* pending-invoices */
SELECT i.invoice_id, i.ordinal, i.service_id, i.accepted_at, i.asks FROM live_line i
WHERE ${isOfPage()} AND i.state = 'accepted' AND (i.accepted_at < $3 OR ${isAheadSql('i.accepted_at', '$3')})
ORDER BY i.asks, i.ordinal
LIMIT $4`;

/**
 * Parameters: batchId, page. Service ids with a stored `issued` event that is not applied to any generation of the
 * page's invoices. A GET must confirm `failed` events (unconfirmed-failures).
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

/** Much shorter than a GET. */
const STATUS_WINDOW_MS = 4;

/** Brings accepted invoices to a final word, and closes pages. */
export function createSettling(database: Database) {
  const recordStatus = new Batcher<StatusUpdate, readonly SettledInvoice[]>({
    windowMs: STATUS_WINDOW_MS,
    keyOf: (update) => update.invoiceId,
    write: async (updates) => (await hear(database, [], updates)).settled,
  });

  const readProgress = async (...page: [batchId: string, page: number]) => {
    const { unapplied, ...progress } = onlyRow(await database.query<ProgressRow>(PAGE_PROGRESS, page));
    return { unapplied, progress };
  };

  return {
    /** Applies stored events, and then counts the page's invoices: the process that stored the events may have died before it applied them. */
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

    /** Returns true if `pageProgress` would count `accepted` or `attached` invoices. Does not read stored events. */
    isPageOpen: async (batchId: string, page: number): Promise<boolean> =>
      (await database.query(PAGE_IS_OPEN, [batchId, page])).length > 0,

    /** Returns `accepted` invoices of a page (any owner) accepted before `acceptedBefore`, fewest polls first. */
    pendingInvoices: (batchId: string, page: number, acceptedBefore: number, limit: number) =>
      database.query<PendingInvoice>(PENDING_INVOICES, [batchId, page, acceptedBefore, limit]),

    /** Counts the polls. `issued` and `failed` move the invoices by the rules of `hear`. */
    async recordStatus(updates: readonly StatusUpdate[]): Promise<readonly SettledInvoice[]> {
      return (await recordStatus.submit(updates)).flat();
    },

    /** Closes a page: accepted before `acceptedBefore` -> unsettled; owned staged -> held; owned sending -> unknown if it may exist, else held. */
    async closePage(batchId: string, page: number, close: ClosePage): Promise<void> {
      const { acceptedBefore, reason, unsent = reason, now, fencingToken } = close;
      const selection = { name: 'close-page', ids: OPEN_OF_PAGE, params: [batchId, page] };
      await changeUnderToken(database, { batchId, fencingToken }, selection, ({ state }) =>
        state === 'accepted'
          ? { kind: 'expire', acceptedBefore, reason, now }
          : { kind: 'close', batchId, reason, unsent, now },
      );
    },
  };
}
