import { Batcher } from '../../platform/batcher.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import type { Status } from '../../domain/machine/invoice-answers.ts';
import type { FencingToken } from '../../domain/records/batch-record.ts';
import {
  arrayLiteral,
  CLOSED_BATCH_STATES,
  column,
  invoicesOfBatch,
  isAheadSql,
  isOfPage,
  ISSUABLE_STATES,
  ofItem,
  onPage,
  PAGE_INVOICES,
  PAGE_OF,
  reasonJson,
  sqlList,
} from '../sql.ts';
import { type Change, changeUnderToken, judgeInvoices } from '../change-invoices.ts';
import { type Database, onlyRow } from '../../database/database.ts';

/** An invoice that waits for nothing more, listed for each of its batches. */
export interface SettledInvoice {
  readonly batchId: string;
  readonly page: number;
  readonly ordinal: number;
}

/** A document without a final word, to be polled by GET. */
export interface OpenDocument {
  readonly invoiceId: number;
  readonly serviceId: string;
  /** The signed `failed` event that this GET must confirm; null if there is none. */
  readonly failedEvent: { readonly reason: Reason | null } | null;
}

interface SettledRow extends SettledInvoice {
  readonly invoiceId: number;
}

/** Parameter: invoiceIds. Returns the settled ones, once for every batch with pages. The second `= ANY` keeps the planner on batch_invoice's index. */
const SETTLED_INVOICES = `/* settled-invoices */
SELECT i.invoice_id, b.batch_id, ${PAGE_OF} AS page, bi.ordinal
FROM invoice i
JOIN batch_invoice bi ON bi.invoice_id = i.invoice_id AND bi.outcome IS NULL
JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
WHERE i.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = ANY($1::bigint[]) AND i.state NOT IN ${sqlList(OPEN_STATES)}
ORDER BY b.batch_id, bi.ordinal`;

/** States without `failed`: an invoice that is issued after it failed also needs a flag, which `hear` sets. */
const WAITING = sqlList(['accepted', 'unsettled']);

const IDS = '(SELECT r.ids FROM reported r)';

/**
 * Parameter: serviceIds. Handles the usual case: a waiting invoice with stored `issued` events and no `failed` one becomes issued, and an issued
 * invoice stays issued. `hear` judges all other cases. Runs after the commit of the events. OFFSET 0 looks up each row separately and the update gets
 * arrays, so that the planner reads no table whole. The update locks in the order of ids, and checks again a row that another writer held.
 */
const ISSUE_REPORTED = `/* issue-reported */
WITH called_issued AS MATERIALIZED (
  SELECT i.invoice_id, i.service_id, i.state, event.issued_at
  FROM (SELECT DISTINCT unnest($1::text[]) AS service_id) named
  CROSS JOIN LATERAL (SELECT own.invoice_id FROM document own WHERE own.service_id = named.service_id OFFSET 0) d
  CROSS JOIN LATERAL (
    SELECT * FROM invoice own WHERE own.invoice_id = d.invoice_id AND own.service_id = named.service_id OFFSET 0
  ) i
  CROSS JOIN LATERAL (
    SELECT CASE WHEN bool_and(d.verdict = 'issued') THEN min(d.received_at) END AS issued_at
    FROM delivery d WHERE d.service_id = i.service_id AND d.verdict IS NOT NULL
  ) event
  WHERE (i.state IN ${WAITING} OR i.state = 'issued') AND event.issued_at IS NOT NULL
), reported AS MATERIALIZED (
  SELECT array_agg(one.invoice_id) AS ids, array_agg(one.service_id) AS service_ids, array_agg(one.issued_at) AS times
  FROM (SELECT * FROM called_issued WHERE state IN ${WAITING} ORDER BY invoice_id) one
), moved AS (
  UPDATE invoice i SET state = 'issued', settled_at = ${ofReported('times')}, changed_at = ${ofReported('times')},
    reason_code = NULL, reason_message = NULL
  WHERE i.invoice_id = ANY(${IDS}::bigint[]) AND i.service_id = ${ofReported('service_ids')} AND i.state IN ${WAITING}
  RETURNING i.invoice_id, i.service_id
)
SELECT issued.invoice_id, issued.service_id, line.batch_id, line.page, line.ordinal
FROM (SELECT invoice_id, service_id FROM moved UNION ALL SELECT invoice_id, service_id FROM called_issued WHERE state = 'issued') issued
LEFT JOIN LATERAL (
  SELECT b.batch_id, ${PAGE_OF} AS page, bi.ordinal
  FROM batch_invoice bi JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
  WHERE bi.invoice_id = issued.invoice_id AND bi.outcome IS NULL
  OFFSET 0
) line ON true
ORDER BY line.batch_id, line.ordinal`;

function ofReported(column: 'times' | 'service_ids'): string {
  return ofItem(`(SELECT r.${column} FROM reported r)`, 'i.invoice_id', IDS);
}

/** Parameter: serviceIds. The invoices that have these documents, now or beside the present one. */
const OF_DOCUMENTS = 'ARRAY(SELECT DISTINCT d.invoice_id FROM document d WHERE d.service_id = ANY($1::text[]))';

/** The effects of events and GETs. */
export interface Heard {
  /** The lines to notify, by invoice. Includes earlier results, because the process that applied them may have ended before it announced them. */
  readonly settled: ReadonlyMap<number, readonly SettledInvoice[]>;
  /** Invoices that still wait, with a stored `failed` event and no `issued` one: a GET must confirm the failure. */
  readonly toConfirm: readonly OpenDocument[];
}

/**
 * Applies the stored events of documents with these service ids, and the results of GETs. A webhook and an answer may race: both
 * run this function after their commit, in a new snapshot. Events of documents without an invoice stay unmatched.
 */
export async function hear(
  database: Database,
  serviceIds: readonly string[],
  statuses: readonly Status[] = [],
): Promise<Heard> {
  const byDocument = new Map<string, Status[]>();
  for (const one of statuses) byDocument.set(one.serviceId, [...(byDocument.get(one.serviceId) ?? []), one]);
  const ids = new Set([...serviceIds, ...byDocument.keys()]);
  if (ids.size === 0) return { settled: new Map(), toConfirm: [] };
  const selection = { name: 'lock-heard', ids: OF_DOCUMENTS, params: [arrayLiteral([...ids])] };
  const changes = await database.transaction((queries) =>
    judgeInvoices(queries, selection, ({ serviceId, kept }) => {
      const documents = new Set([serviceId, ...kept.map((one) => one.serviceId)]);
      return { kind: 'hear', statuses: [...documents].flatMap((id) => byDocument.get(id ?? '') ?? []) };
    }),
  );
  if (changes.length === 0) return { settled: new Map(), toConfirm: [] };
  const settled = await database.query<SettledRow>(SETTLED_INVOICES, [column(changes, ({ invoiceId }) => invoiceId)]);
  return { settled: byInvoice(settled), toConfirm: changes.flatMap((change) => unconfirmed(change, ids)) };
}

function unconfirmed({ invoiceId, before, decision }: Change, ids: ReadonlySet<string>): readonly OpenDocument[] {
  const { serviceId, said } = before;
  const { state } = 'invoice' in decision ? decision.invoice : before;
  const isReported = said.failedFirst && said.issuedAt === null && (state === 'accepted' || state === 'unsettled');
  return isReported && serviceId !== null && ids.has(serviceId)
    ? [{ invoiceId, serviceId, failedEvent: { reason: said.failure } }]
    : [];
}

/** Applies the stored events of these documents; nearly all are simple `issued` events. */
export async function applyEvents(database: Database, serviceIds: readonly string[]): Promise<Heard> {
  if (serviceIds.length === 0) return { settled: new Map(), toConfirm: [] };
  const rows = await database.query<IssuedRow>(ISSUE_REPORTED, [arrayLiteral(serviceIds)]);
  const plain = new Set(rows.map((row) => row.serviceId));
  const lines = rows.filter((row): row is IssuedRow & SettledRow => row.batchId !== null);
  const settled = byInvoice(lines.map(({ serviceId: _of, ...line }) => line));
  const heard = await hear(
    database,
    serviceIds.filter((id) => !plain.has(id)),
  );
  return { ...heard, settled: new Map([...settled, ...heard.settled]) };
}

/** An issued invoice with one of its lines; the batch is null if no line is in a batch with pages. */
interface IssuedRow extends Omit<SettledRow, 'batchId'> {
  readonly batchId: string | null;
  readonly serviceId: string;
}

function byInvoice(rows: readonly SettledRow[]): Map<number, readonly SettledInvoice[]> {
  const settled = new Map<number, SettledInvoice[]>();
  for (const { invoiceId, ...line } of rows) {
    const lines = settled.get(invoiceId);
    if (lines === undefined) settled.set(invoiceId, [line]);
    else lines.push(line);
  }
  return settled;
}

/** SQL: the `failed` event that waits for a GET, as JSON. Needs `joinFailedEvent`. */
export const FAILED_EVENT = `CASE WHEN event.seq IS NOT NULL THEN json_build_object('reason', event.reason) END AS failed_event`;

/** Returns an SQL join of the newest `failed` event about the document of a row of this table. */
export function joinFailedEvent(table: string): string {
  return `LEFT JOIN LATERAL (
  SELECT d.seq, ${reasonJson('d')} AS reason FROM delivery d
  WHERE d.service_id = ${table}.service_id AND d.verdict = 'failed'
  ORDER BY d.seq DESC LIMIT 1) event ON true`;
}

/** Returns SQL that selects `OpenDocument`s of table `i`, and further columns. */
export function openDocuments(from: string, i: string, more = ''): string {
  return `
SELECT ${i}.invoice_id, ${i}.service_id, ${FAILED_EVENT}${more} FROM ${from} ${joinFailedEvent(i)}`;
}

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
