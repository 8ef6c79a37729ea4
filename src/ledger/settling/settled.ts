import type { Status } from '../../domain/machine/invoice-answers.ts';
import { OPEN_STATES } from '../../domain/invoice-state.ts';
import type { Reason } from '../../domain/invoice.ts';
import { PAGE_OF, arrayLiteral, column, ofItem, reasonJson, sqlList } from '../sql.ts';
import { type Change, judgeInvoices } from '../change-invoices.ts';
import type { Database } from '../../database/database.ts';

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
