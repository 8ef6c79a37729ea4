import type { RecordSend } from '../../domain/ports/ledger/sending-ledger.ts';
import type { SettledInvoice } from '../../domain/ports/ledger/settling-ledger.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import type { Database } from '../database/database.ts';
import { isUniqueViolation } from '../database/statement-failure.ts';
import { applyEvents, applyPastEvents, issueReported, reviveIssued, settledInvoices } from '../settling/settled.ts';
import { RECORD_ACCEPTED, type RecordedAccepted } from './record-accepted-sql.ts';
import { RECORD_EARLIER } from './record-earlier-sql.ts';
import { RECORD_SENDS, type RecordedSend } from './record-sends-sql.ts';
import { recordTries } from './record-tries.ts';

/**
 * A writer that took the same service id first, or kept another document of the same key, is visible to the next try; more than a few such races in a row do not
 * happen.
 */
const UNIQUE_TRIES = 3;

/**
 * serviceIds: those of them about which an event is stored that says something final. Each is looked up by itself: a planner that takes an id for one
 * of few reads a large part of all deliveries for a hundred of them.
 */
const REPORTED_IDS = `/* reported-ids */
SELECT u.service_id FROM unnest($1::text[]) AS u(service_id)
WHERE EXISTS (SELECT FROM delivery d WHERE d.service_id = u.service_id AND d.verdict IS NOT NULL OFFSET 0)`;

type Accepted = RecordSend & { readonly outcome: { readonly kind: 'accepted' } };

/**
 * Writes answers and commits; then, in a new snapshot, applies the events that came before the answers; then says who
 * must hear of it, by invoice id.
 */
export async function recordAnswers(
  database: Database,
  items: readonly RecordSend[],
): Promise<ReadonlyMap<number, readonly SettledInvoice[]>> {
  const accepted = items.filter(isAccepted);
  const waiting = await recordAccepted(database, withOwnId(accepted));
  const others = items.filter(({ invoiceId }) => !waiting.has(invoiceId));
  const recorded = await recordOthers(database, others);
  for (const row of recorded) if (row.state === 'accepted' || row.state === 'sending') waiting.add(row.invoice_id);
  const written = new Set(recorded.map((row) => row.invoice_id));
  const earlier = await recordEarlier(
    database,
    others.filter(isAccepted).filter(({ invoiceId }) => !written.has(invoiceId)),
  );
  const reported = await reportedIds(
    database,
    accepted.map(({ outcome }) => outcome.serviceId),
  );
  const issued = await issueReported(database, reported);
  const byInvoice = new Map([...issued.values()].map((one) => [one.invoiceId, one.settled]));
  const left = reported.filter((id) => !issued.has(id));
  for (const event of await applyEvents(database, left)) {
    if (event.state !== 'accepted') waiting.delete(event.invoice_id);
  }
  await applyPastEvents(
    database,
    reported.filter((id) => earlier.has(id)),
  );
  const refused = recorded.filter((row) => row.state === 'rejected' && row.issued_earlier);
  await reviveIssued(
    database,
    refused.map((row) => row.invoice_id),
  );
  const ids = items.map((item) => item.invoiceId).filter((id) => !waiting.has(id) && !byInvoice.has(id));
  const settled = new Map([...byInvoice, ...(await settledInvoices(database, ids))]);
  // For people to read, and no step decides by it: answers that are written must not fail for it.
  await recordTries(database, items).catch(() => undefined);
  return settled;
}

function isAccepted(item: RecordSend): item is Accepted {
  return item.outcome.kind === 'accepted';
}

/** Those whose service id no other item of the set has. */
function withOwnId(items: readonly Accepted[]): readonly Accepted[] {
  const times = new Map<string, number>();
  for (const { outcome } of items) times.set(outcome.serviceId, (times.get(outcome.serviceId) ?? 0) + 1);
  return items.filter(({ outcome }) => times.get(outcome.serviceId) === 1);
}

/** The invoices that are accepted now; the others need a closer look. */
async function recordAccepted(database: Database, given: readonly Accepted[]): Promise<Set<number>> {
  if (given.length === 0) return new Set();
  const items = given.toSorted((a, b) => a.invoiceId - b.invoiceId);
  try {
    const rows = await database.query<RecordedAccepted>(RECORD_ACCEPTED, acceptedColumns(items));
    return new Set(rows.map((row) => row.invoice_id));
  } catch (error) {
    if (isUniqueViolation(error)) return new Set();
    throw error;
  }
}

/** Parameters of `RECORD_ACCEPTED` and `RECORD_EARLIER`. */
function acceptedColumns(items: readonly Accepted[]) {
  return [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, (item) => item.outcome.serviceId),
    column(items, (item) => item.attempts),
    column(items, (item) => item.sentAt),
    column(items, (item) => item.answeredAt ?? item.sentAt),
  ];
}

/** Service ids of documents that are kept beside what has replaced them. */
async function recordEarlier(database: Database, items: readonly Accepted[]): Promise<ReadonlySet<string>> {
  if (items.length === 0) return new Set();
  const columns = acceptedColumns(items);
  const rows = await untilUnique(() => database.query<RecordedAccepted>(RECORD_EARLIER, columns));
  const kept = new Set(rows.map((row) => row.invoice_id));
  return new Set(items.filter(({ invoiceId }) => kept.has(invoiceId)).map(({ outcome }) => outcome.serviceId));
}

async function recordOthers(database: Database, items: readonly RecordSend[]): Promise<readonly RecordedSend[]> {
  if (items.length === 0) return [];
  const params = [
    column(items, (item) => item.invoiceId),
    column(items, (item) => item.generation),
    column(items, ({ outcome }) => outcome.kind),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? outcome.serviceId : null)),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? null : outcome.reason.code)),
    column(items, ({ outcome }) => (outcome.kind === 'accepted' ? null : outcome.reason.message)),
    column(items, (item) => item.attempts),
    column(items, (item) => item.sentAt),
    column(items, ({ outcome }) => outcome.kind === 'unknown' || (outcome.kind === 'pending' && outcome.mayExist)),
    column(items, (item) => item.answeredAt ?? item.sentAt),
    column(items, ({ outcome }) => outcome.kind === 'rejected' && outcome.proven === true),
    column(items, (item) => item.takenAt ?? null),
  ];
  return untilUnique(() => database.query<RecordedSend>(RECORD_SENDS, params));
}

async function untilUnique<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write();
    } catch (error) {
      if (attempt >= UNIQUE_TRIES || !isUniqueViolation(error)) throw error;
    }
  }
}

async function reportedIds(database: Database, serviceIds: readonly string[]): Promise<readonly string[]> {
  if (serviceIds.length === 0) return [];
  const rows = await database.query<{ service_id: string }>(REPORTED_IDS, [arrayLiteral(serviceIds)]);
  return rows.map((row) => row.service_id);
}
