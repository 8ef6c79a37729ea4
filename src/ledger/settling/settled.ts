import { type InvoiceState, OPEN_STATES } from '../../domain/invoice-state.ts';
import type { SettledInvoice } from '../../domain/ports/ledger/settling-ledger.ts';
import { PAGE_OF } from '../batches/page-of-sql.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import type { Queries } from '../database/database.ts';
import { stateList } from '../database/states.ts';
import { type AppliedEvents, APPLY_EVENTS } from './apply-events-sql.ts';
import { APPLY_PAST_EVENTS } from './apply-past-events-sql.ts';
import { ISSUE_REPORTED } from './issue-reported-sql.ts';
import { REVIVE_ISSUED } from './revive-issued-sql.ts';

interface SettledRow {
  readonly invoice_id: number;
  readonly batch_id: string;
  readonly workflow_id: string;
  readonly page: number;
  readonly ordinal: number;
  readonly state: string;
}

interface IssuedRow extends Omit<SettledRow, 'batch_id'> {
  readonly batch_id: string | null;
  readonly service_id: string;
}

/**
 * invoiceIds: those at rest, once for every batch that is attached to them and has pages. The second `= ANY` keeps the
 * planner on batch_invoice's index.
 */
const SETTLED_INVOICES = `/* settled-invoices */
SELECT i.invoice_id, b.batch_id, b.workflow_id, ${PAGE_OF} AS page, bi.ordinal, i.state
FROM invoice i
JOIN batch_invoice bi ON bi.invoice_id = i.invoice_id AND bi.outcome IS NULL
JOIN batch b ON b.batch_id = bi.batch_id AND b.page_size > 0
WHERE i.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = ANY($1::bigint[]) AND i.state NOT IN ${stateList(OPEN_STATES)}
ORDER BY b.batch_id, bi.ordinal`;

/** Stored events applied to the invoices of these service ids, in a new snapshot; ids nobody knows stay unmatched. */
export async function applyEvents(queries: Queries, serviceIds: readonly string[]): Promise<readonly AppliedEvents[]> {
  return serviceIds.length === 0 ? [] : queries.query<AppliedEvents>(APPLY_EVENTS, [arrayLiteral(serviceIds)]);
}

/** An invoice that is issued, and who must hear of it. */
export interface Issued {
  readonly invoiceId: number;
  readonly settled: readonly SettledInvoice[];
}

/** Invoices that only `issued` events call issued are issued; by service id, with those that were so already. All others are left to `applyEvents`. */
export async function issueReported(
  queries: Queries,
  serviceIds: readonly string[],
): Promise<ReadonlyMap<string, Issued>> {
  if (serviceIds.length === 0) return new Map();
  const rows = await queries.query<IssuedRow>(ISSUE_REPORTED, [arrayLiteral(serviceIds)]);
  const settled = grouped(rows.filter(hasBatch), (row) => row.service_id);
  return new Map(
    rows.map(({ service_id: serviceId, invoice_id: invoiceId }) => [
      serviceId,
      { invoiceId, settled: settled.get(serviceId) ?? [] },
    ]),
  );
}

/** What a GET said was issued. */
export interface NotifiedIssued {
  readonly serviceId: string;
  readonly now: number;
}

/**
 * Applies late answers about documents of earlier generations, from stored events and from GETs. Result by service id.
 */
export async function applyPastEvents(
  queries: Queries,
  serviceIds: readonly string[],
  notified: readonly NotifiedIssued[] = [],
): Promise<ReadonlyMap<string, readonly SettledInvoice[]>> {
  if (serviceIds.length === 0 && notified.length === 0) return new Map();
  const rows = await queries.query<SettledRow & { service_id: string }>(APPLY_PAST_EVENTS, [
    arrayLiteral(serviceIds),
    column(notified, (one) => one.serviceId),
    column(notified, (one) => one.now),
  ]);
  return grouped(rows, (row) => row.service_id);
}

/** Of the invoices that have failed or were refused, those are issued of which an earlier document with the same content is. */
export async function reviveIssued(queries: Queries, invoiceIds: readonly number[]): Promise<void> {
  if (invoiceIds.length > 0) await queries.query(REVIVE_ISSUED, [arrayLiteral(invoiceIds)]);
}

/** Those of the invoices that are at rest now, for every batch they belong to, by invoice id. */
export async function settledInvoices(
  queries: Queries,
  invoiceIds: readonly number[],
): Promise<Map<number, readonly SettledInvoice[]>> {
  if (invoiceIds.length === 0) return new Map();
  return grouped(
    await queries.query<SettledRow>(SETTLED_INVOICES, [arrayLiteral(invoiceIds)]),
    (row) => row.invoice_id,
  );
}

/** Without a batch that has pages, nobody must hear of it. */
function hasBatch(row: IssuedRow): row is IssuedRow & { readonly batch_id: string } {
  return row.batch_id !== null;
}

function grouped<Key, Row extends SettledRow>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): Map<Key, SettledInvoice[]> {
  const groups = new Map<Key, SettledInvoice[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [settledInvoice(row)]);
    else group.push(settledInvoice(row));
  }
  return groups;
}

function settledInvoice(row: SettledRow): SettledInvoice {
  return {
    batchId: row.batch_id,
    workflowId: row.workflow_id,
    page: row.page,
    ordinal: row.ordinal,
    state: row.state as InvoiceState,
  };
}
