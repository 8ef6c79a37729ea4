import { idempotencyKeyOf } from '../../domain/fingerprint.ts';
import { type Answer, SERVICE_ID_TAKEN } from '../../domain/machine/invoice-answers.ts';
import type { InvoiceLife } from '../../domain/machine/invoice-life.ts';
import { changeInvoices, type Changed } from '../change-invoices.ts';
import { arrayLiteral, column, isItem, ofItem } from '../sql.ts';
import type { Database, Queries } from '../../database/database.ts';
import { isUniqueViolation } from '../../database/statement-failure.ts';
import { applyEvents } from '../settling/settling.ts';
import type { Reason } from '../../domain/invoice.ts';

/** The result of one invoice's POSTs when this process stops working on it for now. */
export type SendOutcome =
  | Answer['outcome']
  /** The earlier key brought the same result again, so the invoice gets its next key. `proven`: this counts even after a lost answer. */
  | { readonly kind: 'next-key'; readonly reason: Reason; readonly proven: boolean };

/** Result of POSTing one invoice, for `recordSends`. */
export interface RecordSend extends Pick<Answer, 'generation' | 'idempotencyKey' | 'attempts' | 'sentAt'> {
  readonly invoiceId: number;
  /** Start of the settle time; default `sentAt`. */
  readonly answeredAt?: number;
  readonly outcome: SendOutcome;
  /** As in `Answer`; default null. */
  readonly takenAt?: number;
}

/** Tries after a unique violation: another writer took the service id, or the other document of the same key. The next try sees what it took. */
const UNIQUE_TRIES = 3;

/**
 * Parameter: serviceIds. Selects those with a final event. OFFSET 0 looks up each one separately: otherwise the planner
 * reads a large part of all deliveries for a hundred ids.
 */
const REPORTED_IDS = `/* reported-ids */
SELECT u.service_id FROM unnest($1::text[]) AS u(service_id)
WHERE EXISTS (SELECT FROM delivery d WHERE d.service_id = u.service_id AND d.verdict IS NOT NULL OFFSET 0)`;

type Accepted = RecordSend & { readonly outcome: { readonly kind: 'accepted' } };

const GENERATION = ofItem('$2::integer[]', 'i.invoice_id');
const SERVICE_ID = ofItem('$3::text[]', 'i.invoice_id');
const ATTEMPTS = ofItem('$4::integer[]', 'i.invoice_id');
const SENT_AT = ofItem('$5::bigint[]', 'i.invoice_id');
const ANSWERED_AT = ofItem('$6::bigint[]', 'i.invoice_id');

/**
 * Parameters (arrays, ascending invoice id): invoiceId, generation, serviceId, attempts, sentAt, answeredAt. Records the usual answer, as the machine's
 * `record` decides: accepted, with a new id. All other answers take the common path. The key of `document` refuses an id that is known.
 */
const RECORD_ACCEPTED = `/* record-accepted */
WITH recorded AS (
UPDATE invoice i SET state = 'accepted', accepted_at = ${ANSWERED_AT}, changed_at = ${ANSWERED_AT}, asks = 0,
  service_id = ${SERVICE_ID},
  attempts = i.attempts + ${ATTEMPTS},
  first_sent_at = CASE WHEN ${ATTEMPTS} > 0 THEN coalesce(i.first_sent_at, ${SENT_AT}) ELSE i.first_sent_at END,
  reason_code = NULL, reason_message = NULL
WHERE i.invoice_id = ANY($1::bigint[]) AND ${isItem('i.invoice_id')} AND i.generation = ${GENERATION}
  AND i.state IN ('sending', 'unknown') AND i.service_id IS NULL
RETURNING i.invoice_id, i.service_id
)
INSERT INTO document (service_id, invoice_id) SELECT service_id, invoice_id FROM recorded
RETURNING invoice_id`;

/** Parameter: invoiceIds. Counts the invoices of the sending batch that were answered with another invoice's id. */
const COUNT_TAKEN = `/* count-taken */
SELECT i.invoice_id, (
  SELECT count(*) FROM invoice o WHERE o.owner_batch = i.owner_batch AND o.reason_code = 'service-id-taken'
) AS taken
FROM invoice i WHERE i.invoice_id = ANY($1::bigint[])`;

/**
 * Writes answers and commits, then applies earlier events in a new snapshot. Returns an entry for each invoice whose answer newly names the id of another
 * invoice: the number of invoices of its batch whose answers did so.
 */
export async function recordAnswers(
  database: Database,
  given: readonly RecordSend[],
): Promise<ReadonlyMap<number, number>> {
  const items = given.toSorted((a, b) => a.invoiceId - b.invoiceId);
  const accepted = items.filter(isAccepted);
  const waiting = await recordAccepted(database, accepted);
  const others = items.filter(({ invoiceId }) => !waiting.has(invoiceId));
  const named = accepted.map(({ outcome }) => outcome.serviceId);
  const changes: Changed[] = [];
  // Where two items name one id, the second sees that the first has taken it.
  for (const set of new Set(named).size === named.length ? [others] : others.map((item) => [item]))
    // oxlint-disable-next-line no-await-in-loop -- each set sees the ids that the one before it took
    changes.push(...(await untilUnique(() => recordOthers(database, set))));
  await applyEvents(database, await reportedIds(database, named));
  return countTaken(database, changes);
}

async function countTaken(database: Database, changes: readonly Changed[]): Promise<ReadonlyMap<number, number>> {
  const isTaken = ({ reason }: InvoiceLife) => reason?.code === SERVICE_ID_TAKEN.code;
  const newly = changes.filter(({ before, decision }) => isTaken(decision.invoice) && !isTaken(before));
  if (newly.length === 0) return new Map();
  const ids = column(newly, (change) => change.invoiceId);
  const rows = await database.query<{ invoiceId: number; taken: number }>(COUNT_TAKEN, [ids]);
  return new Map(rows.map((row) => [row.invoiceId, row.taken]));
}

function isAccepted(item: RecordSend): item is Accepted {
  return item.outcome.kind === 'accepted';
}

/** Records accepted answers. Returns the invoices that are accepted now; the others need the common path. */
async function recordAccepted(database: Database, items: readonly Accepted[]): Promise<Set<number>> {
  if (items.length === 0) return new Set();
  try {
    const rows = await database.query<{ invoiceId: number }>(RECORD_ACCEPTED, [
      column(items, (item) => item.invoiceId),
      column(items, (item) => item.generation),
      column(items, (item) => item.outcome.serviceId),
      column(items, (item) => item.attempts),
      column(items, (item) => item.sentAt),
      column(items, (item) => item.answeredAt ?? item.sentAt),
    ]);
    return new Set(rows.map((row) => row.invoiceId));
  } catch (error) {
    if (isUniqueViolation(error)) return new Set();
    throw error;
  }
}

async function recordOthers(database: Database, items: readonly RecordSend[]): Promise<readonly Changed[]> {
  if (items.length === 0) return [];
  const byInvoice = new Map(items.map((item) => [item.invoiceId, item]));
  return database.transaction(async (queries) => {
    const { taken, sharing } = await namedIds(queries, items.filter(isAccepted));
    const params = [arrayLiteral([...byInvoice.keys(), ...sharing])];
    const selection = { name: 'lock-answered', ids: '$1::bigint[]', params };
    return changeInvoices(queries, selection, ({ identity, fingerprint }, { invoiceId }) => {
      const send = byInvoice.get(invoiceId);
      if (send === undefined) return { kind: 'share' };
      const { outcome, generation, attempts, sentAt, answeredAt = sentAt, takenAt = null } = send;
      if (outcome.kind === 'next-key') {
        const idempotencyKey = idempotencyKeyOf(identity, fingerprint, generation);
        const isProven = outcome.proven;
        return { kind: 'next-key', generation, attempts, idempotencyKey, isProven, now: answeredAt };
      }
      const id = { idIsTaken: taken.has(invoiceId), sharesId: sharing.has(invoiceId) };
      const { idempotencyKey } = send;
      const answer = { generation, idempotencyKey, attempts, outcome, sentAt, answeredAt, takenAt, ...id };
      return { kind: 'record', answer };
    });
  });
}

const OWNERS_OF_IDS = `/* owners-of-ids */
SELECT d.service_id, d.invoice_id, i.service_id IS DISTINCT FROM d.service_id AS past
FROM document d JOIN invoice i ON i.invoice_id = d.invoice_id
WHERE d.service_id = ANY($1::text[])`;

interface OwnerRow {
  readonly serviceId: string;
  readonly invoiceId: number;
  /** True if the id belongs to a generation beside the present one. */
  readonly past: boolean;
}

interface NamedIds {
  /** Invoices whose answer names the id of another invoice or another generation. */
  readonly taken: ReadonlySet<number>;
  /** The invoices to which these ids belong: the service may have given either invoice the wrong id. */
  readonly sharing: ReadonlySet<number>;
}

/** Finds ids that several invoices name. A writer that takes an id after this violates the key of `document`, and Lote repeats the transaction. */
async function namedIds(queries: Queries, items: readonly Accepted[]): Promise<NamedIds> {
  const taken = new Set<number>();
  const sharing = new Set<number>();
  if (items.length === 0) return { taken, sharing };
  const ids = column(items, ({ outcome }) => outcome.serviceId);
  const invoices = new Map(items.map(({ invoiceId, outcome }) => [outcome.serviceId, invoiceId]));
  for (const owner of await queries.query<OwnerRow>(OWNERS_OF_IDS, [ids])) {
    const invoiceId = invoices.get(owner.serviceId);
    if (invoiceId === undefined || (owner.invoiceId === invoiceId && !owner.past)) continue;
    taken.add(invoiceId);
    if (owner.invoiceId !== invoiceId) sharing.add(owner.invoiceId);
  }
  return { taken, sharing };
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
  const rows = await database.query<{ serviceId: string }>(REPORTED_IDS, [arrayLiteral(serviceIds)]);
  return rows.map((row) => row.serviceId);
}
