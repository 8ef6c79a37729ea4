import type { InvoiceIdentity } from '../domain/fingerprint.ts';
import type { Decided, Effect, InvoiceLife, Refused, Surroundings } from '../domain/machine/invoice-life.ts';
import { decide, type Command } from '../domain/machine/invoice-machine.ts';
import { CLOSED_BATCH_STATES, column, reasonJson, recordset } from './sql.ts';
import type { Database, Queries, SqlValue } from '../database/database.ts';
import { shareBatch } from './batches/batch.ts';
import type { BatchWriter } from '../domain/records/batch-record.ts';

const PORTION = 2_000;

/** Selects invoices: an SQL expression that yields an array of their ids, with its name and parameters. */
export interface Selection {
  readonly name: string;
  readonly ids: string;
  readonly params: readonly SqlValue[];
}

/** A locked invoice, with the parts of its keys. */
export interface LockedInvoice extends InvoiceLife, Surroundings {
  readonly identity: InvoiceIdentity;
}

interface OfInvoice {
  readonly invoiceId: number;
}

/** One invoice as it was when it was locked, the decision about it, and its row in the selection. */
export interface Change<Row extends OfInvoice = OfInvoice> extends OfInvoice {
  readonly row: Row;
  readonly before: LockedInvoice;
  readonly decision: Decided | Refused;
}

/** An invoice that a command has changed. */
export type Changed = Change & { readonly decision: Decided };

type CommandFor<Row extends OfInvoice = OfInvoice> = (invoice: LockedInvoice, row: Row) => Command | null;

/** As `judgeInvoices`, but returns only the changed invoices. */
export async function changeInvoices(
  queries: Queries,
  selection: Selection,
  commandFor: CommandFor,
): Promise<readonly Changed[]> {
  return (await judgeInvoices(queries, selection, commandFor)).filter(isChanged);
}

/** Runs `changeInvoices` in its own transaction, which checks the fencing token of the batch. Returns the number of changed invoices. */
export async function changeUnderToken(
  database: Database,
  writer: BatchWriter,
  selection: Selection,
  commandFor: CommandFor,
): Promise<number> {
  return database.transaction(async (queries) => {
    await shareBatch(queries, writer);
    return (await changeInvoices(queries, selection, commandFor)).length;
  });
}

/**
 * Runs commands on invoices; every command takes this path. Locks the invoices in the order of their ids, loads them, decides about each and writes
 * the changes. Call it in a transaction that has checked the fencing token. If `commandFor` returns null, the invoice stays unchanged.
 */
export async function judgeInvoices(
  queries: Queries,
  { name, ids, params }: Selection,
  commandFor: CommandFor,
): Promise<readonly Change[]> {
  const locked = await queries.query<OfInvoice>(
    `/* ${name} */
SELECT i.invoice_id FROM invoice i WHERE i.invoice_id = ANY(${ids}) ORDER BY i.invoice_id FOR UPDATE OF i`,
    params,
  );
  return changeLocked(queries, locked, commandFor);
}

/** As `judgeInvoices`, for invoices that are already locked, one row for each. */
export async function changeLocked<Row extends OfInvoice>(
  queries: Queries,
  rows: readonly Row[],
  commandFor: CommandFor<Row>,
): Promise<readonly Change<Row>[]> {
  const byId = new Map(rows.map((row) => [row.invoiceId, row]));
  const changes: Change<Row>[] = [];
  for (let from = 0; from < rows.length; from += PORTION) {
    const ids = column(rows.slice(from, from + PORTION), ({ invoiceId }) => invoiceId);
    // Loads in a new snapshot, because the lock may have waited for other writers.
    // oxlint-disable-next-line no-await-in-loop -- one transaction
    const loaded = await queries.query<LifeRow>(LOAD_INVOICES, [ids]);
    const decided = loaded.flatMap(({ invoiceId, application, merchantNif, ref, ...life }): readonly Change<Row>[] => {
      const row = byId.get(invoiceId);
      const before = { ...life, identity: { application, merchantNif, ref } };
      const command = row === undefined ? null : commandFor(before, row);
      return row === undefined || command === null
        ? []
        : [{ invoiceId, row, before, decision: decide(before, command) }];
    });
    // oxlint-disable-next-line no-await-in-loop -- one transaction
    await writeChanges(queries, decided.filter(isChanged));
    for (const change of decided) changes.push(change);
  }
  return changes;
}

/** True for an invoice that a command has changed. */
function isChanged<One extends Change>(change: One): change is One & { readonly decision: Decided } {
  return 'invoice' in change.decision;
}

/** Writes effects before invoices, because the effects read the previous state of the invoice. */
async function writeChanges(queries: Queries, changes: readonly Changed[]): Promise<void> {
  if (changes.length === 0) return;
  const after = changes.map(({ invoiceId, decision }) => ({ invoiceId, ...decision.invoice }));
  for (const [effect, statement] of EFFECTS) {
    const having = after.filter((_, index) => changes[index]?.decision.effects?.includes(effect));
    if (having.length === 0) continue;
    // oxlint-disable-next-line no-await-in-loop -- one transaction
    await queries.query(statement, [
      column(having, (one) => one.invoiceId),
      column(having, (one) => one.generation),
      column(having, (one) => one.changedAt),
    ]);
  }
  await writeKept(queries, changes);
  await queries.query(WRITE_INVOICES, [column(after, (one) => one.invoiceId), recordset(after)]);
  await writeDocuments(queries, changes);
}

/** Remembers the invoice of each service id that an answer named first. A known id of another invoice violates the key. */
async function writeDocuments(queries: Queries, changes: readonly Changed[]): Promise<void> {
  const named = changes.flatMap(({ invoiceId, before, decision }) => {
    const known = new Set([before.serviceId, ...before.kept.map((one) => one.serviceId)]);
    return [decision.invoice, ...(decision.kept ?? [])]
      .map(({ serviceId }) => serviceId)
      .filter((serviceId) => serviceId !== null && !known.has(serviceId))
      .map((serviceId) => ({ invoiceId, serviceId }));
  });
  if (named.length === 0) return;
  await queries.query(WRITE_DOCUMENTS, [column(named, (one) => one.serviceId), column(named, (one) => one.invoiceId)]);
}

async function writeKept(queries: Queries, changes: readonly Changed[]): Promise<void> {
  const rows = changes.flatMap(({ invoiceId, decision }) =>
    (decision.kept ?? []).map((kept) => ({ invoiceId, ...kept })),
  );
  if (rows.length === 0) return;
  await queries.query(WRITE_KEPT, [recordset(rows)]);
  const lines = changes.flatMap(({ invoiceId, before, decision }) =>
    (decision.kept ?? [])
      .filter(({ state }) => state === 'issued')
      .flatMap(({ fingerprint, generation }) =>
        before.kept
          .filter((held) => held.fingerprint === fingerprint)
          .map((held) => ({ invoiceId, held: held.generation, issued: generation })),
      ),
  );
  if (lines.length === 0) return;
  await queries.query(ISSUE_LINES, [
    column(lines, (one) => one.invoiceId),
    column(lines, (one) => one.held),
    column(lines, (one) => one.issued),
  ]);
}

/** Returns SQL that summarises the stored events of a document as JSON (`EventsSaid`). */
function eventsOf(serviceId: string): string {
  const newest = (column: string) =>
    `(array_agg(d.${column} ORDER BY d.seq DESC) FILTER (WHERE d.verdict = 'failed'))[1]`;
  return `(SELECT json_build_object('issuedAt', e.issued_at, 'failedFirst', coalesce(e.failed < coalesce(e.issued, e.failed + 1), false),
    'failedLater', coalesce(e.last_failed > e.issued, false), 'failure', ${reasonJson('e')})
  FROM (SELECT
      min(d.received_at) FILTER (WHERE d.verdict = 'issued') AS issued_at, min(d.seq) FILTER (WHERE d.verdict = 'issued') AS issued,
      min(d.seq) FILTER (WHERE d.verdict = 'failed') AS failed, max(d.seq) FILTER (WHERE d.verdict = 'failed') AS last_failed,
      ${newest('reason_code')} AS reason_code, ${newest('reason_message')} AS reason_message
    FROM delivery d WHERE d.service_id = ${serviceId} AND d.verdict IS NOT NULL) e)`;
}

const LOAD_INVOICES = `/* load-invoices */
SELECT i.invoice_id, i.application, i.merchant_nif, i.invoice_ref AS ref, i.state, i.exposure, i.generation, i.fingerprint,
  i.idempotency_key, i.owner_batch, i.service_id, i.attempts, i.asks,
  i.first_sent_at, i.accepted_at, i.settled_at, i.changed_at, ${reasonJson('i')} AS reason, i.flags,
  body.frozen_at, owner.state IN ${CLOSED_BATCH_STATES} AS owner_is_closed,
  ${eventsOf('i.service_id')} AS said,
  (SELECT coalesce(json_agg(json_build_object('generation', g.generation, 'fingerprint', g.fingerprint, 'idempotencyKey', g.idempotency_key,
      'state', g.state, 'serviceId', g.service_id, 'attempts', g.attempts, 'firstSentAt', g.first_sent_at, 'settledAt', g.settled_at,
      'reason', ${reasonJson('g')}, 'flags', g.flags, 'said', ${eventsOf('g.service_id')}) ORDER BY g.generation), '[]')
    FROM invoice_generation g WHERE g.invoice_id = i.invoice_id) AS kept
FROM invoice i
JOIN batch owner ON owner.batch_id = i.owner_batch
LEFT JOIN invoice_body body ON body.invoice_id = i.invoice_id AND body.generation = i.generation
WHERE i.invoice_id = ANY($1::bigint[])
ORDER BY i.invoice_id`;

interface LifeRow extends Omit<LockedInvoice, 'identity'>, InvoiceIdentity, OfInvoice {}

/** Parameters (arrays): invoiceId, and the generation and time of change that the decision gives. */
const AFTER = 'unnest($1::bigint[], $2::integer[], $3::bigint[]) AS u(invoice_id, generation, changed_at)';

const EFFECTS: readonly (readonly [Effect, string])[] = [
  [
    'next-content',
    `/* next-content */
INSERT INTO invoice_content (invoice_id, generation, content, merchant_legal_name, merchant_email)
SELECT c.invoice_id, u.generation, c.content, c.merchant_legal_name, c.merchant_email
FROM ${AFTER} JOIN invoice_content c ON c.invoice_id = u.invoice_id AND c.generation = u.generation - 1`,
  ],
  // The copied bytes keep their time of freezing.
  [
    'next-body',
    `/* next-body */
INSERT INTO invoice_body (invoice_id, generation, body, frozen_at)
SELECT b.invoice_id, u.generation, b.body, b.frozen_at
FROM ${AFTER} JOIN invoice_body b ON b.invoice_id = u.invoice_id AND b.generation = u.generation - 1
ON CONFLICT (invoice_id, generation) DO UPDATE SET body = excluded.body, frozen_at = excluded.frozen_at`,
  ],
  // The outcome of an invoice that was never sent is `held`.
  [
    'keep-outcomes',
    `/* keep-outcomes */
UPDATE batch_invoice bi SET outcome = CASE WHEN i.state = 'staged' THEN 'held' ELSE i.state END, generation = u.generation - 1
FROM ${AFTER} JOIN invoice i ON i.invoice_id = u.invoice_id
WHERE bi.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = u.invoice_id AND bi.outcome IS NULL`,
  ],
  [
    'accept-risk',
    `/* accept-risk */
UPDATE invoice_body b SET risk_accepted_at = u.changed_at
FROM ${AFTER} WHERE b.invoice_id = u.invoice_id AND b.generation = u.generation`,
  ],
  [
    'go-back',
    `/* show-live */
UPDATE batch_invoice line SET outcome = NULL, generation = NULL
FROM ${AFTER}
WHERE line.invoice_id = ANY($1::bigint[]) AND line.invoice_id = u.invoice_id AND line.generation = u.generation`,
  ],
  [
    'go-back',
    `/* forget-generations */
DELETE FROM invoice_generation g USING ${AFTER}
WHERE g.invoice_id = u.invoice_id AND g.generation >= u.generation`,
  ],
  [
    'go-back',
    `/* forget-contents */
DELETE FROM invoice_content c USING ${AFTER}
WHERE c.invoice_id = u.invoice_id AND c.generation > u.generation`,
  ],
];

/** Parameter: records. An existing generation changes only in its state, settlement time, reason and flags. */
const WRITE_KEPT = `/* write-kept */
INSERT INTO invoice_generation SELECT * FROM json_populate_recordset(NULL::invoice_generation, $1::text::json)
ON CONFLICT (invoice_id, generation) DO UPDATE SET state = excluded.state, settled_at = excluded.settled_at,
  reason_code = excluded.reason_code, reason_message = excluded.reason_message, flags = excluded.flags`;

/** Parameters (arrays): invoiceId, generation that a line holds, issued generation with the same content. */
const ISSUE_LINES = `/* issue-lines */
UPDATE batch_invoice bi SET outcome = 'issued', generation = u.issued
FROM unnest($1::bigint[], $2::integer[], $3::integer[]) AS u(invoice_id, held, issued)
WHERE bi.invoice_id = ANY($1::bigint[]) AND bi.invoice_id = u.invoice_id AND bi.generation = u.held`;

const WRITE_INVOICES = `/* write-invoices */
UPDATE invoice i SET (state, exposure, generation, fingerprint, idempotency_key, owner_batch, service_id, attempts, asks,
    first_sent_at, accepted_at, settled_at, changed_at, reason_code, reason_message, flags)
  = (u.state, u.exposure, u.generation, u.fingerprint, u.idempotency_key, u.owner_batch, u.service_id, u.attempts, u.asks,
    u.first_sent_at, u.accepted_at, u.settled_at, u.changed_at, u.reason_code, u.reason_message, u.flags)
FROM json_populate_recordset(NULL::invoice, $2::text::json) u
WHERE i.invoice_id = u.invoice_id AND i.invoice_id = ANY($1::bigint[])`;

const WRITE_DOCUMENTS = `/* write-documents */
INSERT INTO document (service_id, invoice_id) SELECT * FROM unnest($1::text[], $2::bigint[])`;
