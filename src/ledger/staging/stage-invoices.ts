import { idempotencyKeyOf, type InvoiceIdentity } from '../../domain/fingerprint.ts';
import type { Finding, Invoice, Reason } from '../../domain/invoice.ts';
import { fittingReference } from '../../domain/look-alike.ts';
import type { Attachment } from '../../domain/machine/invoice-life.ts';
import { type Brought, isRemembered } from '../../domain/machine/invoice-staging.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import { changeLocked, type LockedInvoice } from '../change-invoices.ts';
import type { Queries } from '../../database/database.ts';
import { arrayLiteral, CLOSED_BATCH_STATES, column } from '../sql.ts';
import { acceptLostSends, findLostSends, type LostSend } from '../sending/lost-sends.ts';
import { findFuller, findLookAlikes, looksLike, type InvoiceKeys, invoiceKeys, type LookAlike } from './look-alikes.ts';

/** An invoice of the file to stage. */
export type StageInvoice = ValidInvoice | InvalidInvoice;

interface OfFile {
  readonly ordinal: number;
  readonly rows: readonly number[];
  readonly findings: readonly Finding[];
}

interface ValidInvoice extends OfFile {
  readonly kind: 'valid';
  readonly invoice: Invoice;
  readonly fingerprint: string;
  /** The key for generation 1. */
  readonly idempotencyKey: string;
  readonly net: string;
  /** True if its content cannot replace a `rejected` one: no refusal of this service is a proof, and no operator has accepted the risk of a duplicate. */
  readonly keepsRejected?: boolean;
  /** The person who started the batch has accepted the risk of a duplicate. */
  readonly riskAccepted?: true;
  /** How long the service remembers a key. Older content is replaced only if the risk is accepted. The default is for ever. */
  readonly retentionMs?: number;
  /** The person who started the batch has confirmed that look-alike references are different. */
  readonly lookAlikesKept?: true;
}

interface InvalidInvoice extends OfFile {
  readonly kind: 'invalid';
  readonly ref: string;
  readonly merchantNif: string;
  readonly currency: string | null;
  readonly net: string | null;
}

interface StagingBatch {
  readonly batchId: string;
  readonly application: string;
  readonly now: number;
}

/** A valid invoice of the file, with its keys in the ledger. */
interface Keyed {
  readonly staged: ValidInvoice;
  readonly identity: InvoiceIdentity;
  /** The skeleton is null if a person has confirmed that the look-alikes are different. */
  readonly keys: Omit<InvoiceKeys, 'skeleton'> & { readonly skeleton: string | null };
  /** Set if the invoice was sent since the copy from which the ledger was restored. */
  readonly lost: LostSend | undefined;
  /** The generation in which this content was sent last since that copy, and which continues; null if the content was not sent. */
  readonly continued: number | null;
}

/** The invoice with its place in the ledger. */
interface Placed extends Keyed {
  readonly invoiceId: number;
  readonly generation: number;
  readonly attachment: Attachment | 'new';
  /** The invoice before this staging; null if it is new. */
  readonly known: LockedInvoice | null;
}

/** One row of `LOCK_KNOWN_INVOICES`. `Brought` explains the last two. */
interface KnownInvoice {
  readonly invoiceId: number;
  readonly identity: string;
  readonly isStaged: boolean;
  readonly isAwaited: boolean;
}

/** Parameters: identities, batchId. Locks known invoices in sorted order until the decisions about them are written. */
const LOCK_KNOWN_INVOICES = `/* lock-known-invoices */
SELECT i.invoice_id, i.identity,
  i.owner_batch = $2 AND EXISTS (SELECT FROM batch_invoice bi WHERE bi.invoice_id = i.invoice_id AND bi.batch_id = $2) AS is_staged,
  i.owner_batch = $2 AND EXISTS (
    SELECT FROM batch_invoice other JOIN batch waiting ON waiting.batch_id = other.batch_id
    WHERE other.invoice_id = i.invoice_id AND other.batch_id <> $2 AND other.outcome IS NULL AND waiting.state NOT IN ${CLOSED_BATCH_STATES}
    OFFSET 0) AS is_awaited
FROM invoice i
WHERE i.identity = ANY($1::text[])
ORDER BY i.identity
FOR UPDATE OF i`;

/**
 * Parameters: batchId, then arrays of ordinal, invoiceId, outcome, nif, ref, currency, net, rows (as array literals),
 * findings (JSON), reason code, reason message. A portion staged twice changes nothing.
 */
const INSERT_BATCH_INVOICES = `/* insert-batch-invoices */
INSERT INTO batch_invoice (batch_id, ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings,
  reason_code, reason_message)
SELECT $1, u.ordinal, u.invoice_id, u.outcome, u.merchant_nif, u.invoice_ref, u.currency, u.net, u.file_rows::integer[], u.findings,
  u.reason_code, u.reason_message
FROM unnest($2::integer[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
  $12::text[]) AS u(ordinal, invoice_id, outcome, merchant_nif, invoice_ref, currency, net, file_rows, findings, reason_code, reason_message)
ON CONFLICT (batch_id, ordinal) DO NOTHING`;

const WRITE_CONTENTS = `/* write-contents */
INSERT INTO invoice_content (invoice_id, generation, content, merchant_legal_name, merchant_email)
SELECT * FROM unnest($1::bigint[], $2::integer[], $3::text[], $4::text[], $5::text[])
ON CONFLICT (invoice_id, generation) DO UPDATE SET content = excluded.content,
  merchant_legal_name = excluded.merchant_legal_name, merchant_email = excluded.merchant_email`;

/**
 * Parameters: application, batchId, now, then arrays of identity, nif, ref, fingerprint, key, skeleton, generation. Neither changes nor
 * returns known identities and skeletons. All writers insert in one order, so that two batches with the same invoices do not deadlock.
 */
const INSERT_INVOICES = `/* insert-invoices */
INSERT INTO invoice (application, owner_batch, changed_at, identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, skeleton, state, generation)
SELECT $1, $2, $3, u.identity, u.merchant_nif, u.invoice_ref, u.fingerprint, u.idempotency_key, u.skeleton, 'staged', u.generation
FROM unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::uuid[], $10::integer[])
  AS u(identity, merchant_nif, invoice_ref, fingerprint, idempotency_key, skeleton, generation)
ORDER BY u.skeleton, u.identity
ON CONFLICT DO NOTHING
RETURNING invoice_id, identity`;

/** An invoice whose identity was new to the ledger. */
type NewInvoice = Pick<KnownInvoice, 'invoiceId' | 'identity'>;

/** Look-alikes by the invoice of the file. */
type LookAlikes = Map<StageInvoice, LookAlike>;

/** Stages one portion of a batch's invoices in set statements. Call it inside a transaction. */
export async function stageInvoices(
  queries: Queries,
  batch: StagingBatch,
  invoices: readonly StageInvoice[],
): Promise<void> {
  const read = invoices
    .filter((one) => one.kind === 'valid')
    .map((staged) => {
      const { merchant, ref } = staged.invoice;
      const identity = { application: batch.application, merchantNif: merchant.nif, ref };
      return { staged, identity, keys: invoiceKeys(identity) };
    });
  const lostSends = await findLostSends(
    queries,
    read.map(({ keys }) => keys.identity),
  );
  const asked = read.filter(({ staged }) => staged.lookAlikesKept !== true);
  const lookAlikes: LookAlikes = await findFuller<StageInvoice>(queries, batch, asked);
  const valid = read.map((one): Keyed => {
    const lost = lostSends.get(one.keys.identity);
    return { ...one, lost, continued: generationOf(one, lost) };
  });
  const placed = await place(queries, batch, { valid, lookAlikes });
  await acceptLostSends(queries, placed.flatMap(acceptedAnew), batch.now);
  await writeContents(queries, placed);
  await attach(queries, batch, { invoices, placed, lookAlikes });
}

/** More than any service profile allows. */
const MOST_GENERATIONS = 20;

function generationOf(
  { staged, identity }: Pick<Keyed, 'staged' | 'identity'>,
  lost: LostSend | undefined,
): number | null {
  if (lost === undefined) return null;
  for (let generation = 1; generation <= MOST_GENERATIONS; generation += 1)
    if (idempotencyKeyOf(identity, staged.fingerprint, generation) === lost.idempotencyKey) return generation;
  return null;
}

/** Returns the invoice's id if the batch sends it and the person who started the batch has accepted the risk. */
function acceptedAnew({ staged, attachment, invoiceId }: Placed): readonly number[] {
  return staged.riskAccepted === true && ['new', 'correct'].includes(attachment) ? [invoiceId] : [];
}

/**
 * Inserts new invoices, locks known ones, and decides about them. The remaining ones look like an invoice of the ledger: adds them to `lookAlikes`, or inserts
 * them without a skeleton if a person has confirmed that they are different. If another file restarts its staging, an invoice may disappear between insert
 * and lock, and is new in the next round.
 */
async function place(
  queries: Queries,
  batch: StagingBatch,
  { valid, lookAlikes }: { readonly valid: readonly Keyed[]; readonly lookAlikes: LookAlikes },
): Promise<readonly Placed[]> {
  const open = new Map(valid.filter(({ staged }) => !lookAlikes.has(staged)).map((one) => [one.keys.identity, one]));
  const placed: Placed[] = [];
  while (open.size > 0) {
    for (const { identity, invoiceId } of await insertNew(queries, batch, [...open.values()])) {
      const keyed = taken(open, identity);
      const generation = keyed?.continued ?? 1;
      if (keyed !== undefined) placed.push({ ...keyed, invoiceId, generation, attachment: 'new', known: null });
    }
    if (open.size === 0) break;
    const identities = arrayLiteral([...open.keys()]);
    const found = await queries.query<KnownInvoice>(LOCK_KNOWN_INVOICES, [identities, batch.batchId]);
    const changes = await changeLocked(queries, found, (_, row) => {
      const keyed = open.get(row.identity);
      return keyed === undefined ? null : { kind: 'stage', ...broughtBy(batch, keyed, row) };
    });
    for (const { invoiceId, row, before, decision } of changes) {
      const keyed = taken(open, row.identity);
      if (keyed === undefined) continue;
      const { generation } = 'invoice' in decision ? decision.invoice : before;
      placed.push({ ...keyed, invoiceId, generation, attachment: decision.attachment ?? 'conflict', known: before });
    }
    await partLookAlikes(queries, open, lookAlikes);
  }
  return placed;
}

function taken(open: Map<string, Keyed>, identity: string): Keyed | undefined {
  const keyed = open.get(identity);
  open.delete(identity);
  return keyed;
}

/** Moves look-alikes from `open` to `lookAlikes`. An invoice that stays beside its look-alike gets no skeleton, because skeletons are unique. */
async function partLookAlikes(queries: Queries, open: Map<string, Keyed>, lookAlikes: LookAlikes): Promise<void> {
  const found = await findLookAlikes(
    queries,
    [...open.values()].flatMap(({ keys }) => keys.skeleton ?? []),
  );
  for (const [identity, keyed] of open) {
    const { staged, keys } = keyed;
    const other = keys.skeleton === null ? undefined : found.get(keys.skeleton);
    if (other === undefined || other.identity === identity) continue;
    if (staged.lookAlikesKept === true) open.set(identity, { ...keyed, keys: { ...keys, skeleton: null } });
    else {
      lookAlikes.set(staged, other);
      open.delete(identity);
    }
  }
}

function insertNew(queries: Queries, batch: StagingBatch, items: readonly Keyed[]): Promise<readonly NewInvoice[]> {
  return queries.query<NewInvoice>(INSERT_INVOICES, [
    batch.application,
    batch.batchId,
    batch.now,
    column(items, ({ keys }) => keys.identity),
    column(items, (item) => item.staged.invoice.merchant.nif),
    column(items, (item) => item.staged.invoice.ref),
    column(items, (item) => item.staged.fingerprint),
    column(
      items,
      ({ staged, continued, lost }) => (continued === null ? null : lost?.idempotencyKey) ?? staged.idempotencyKey,
    ),
    column(items, ({ keys }) => keys.skeleton),
    column(items, ({ continued }) => continued ?? 1),
  ]);
}

function broughtBy(
  { batchId, now }: StagingBatch,
  { staged, identity, lost, continued }: Keyed,
  { isStaged, isAwaited }: KnownInvoice,
): Brought {
  const { fingerprint, keepsRejected = false, riskAccepted = false, retentionMs = Infinity } = staged;
  return {
    ...{ batchId, now, fingerprint, isStaged, isAwaited, keepsRejected, riskAccepted, retentionMs },
    ...{ wasLost: lost !== undefined, continuedKey: continued === null ? null : (lost?.idempotencyKey ?? null) },
    keyOf: (generation) => idempotencyKeyOf(identity, fingerprint, generation),
  };
}

/** Writes the content from the file whose batch will send the invoice: a file dropped again may bring missing details of the merchant. */
async function writeContents(queries: Queries, placed: readonly Placed[]): Promise<void> {
  const owned = placed.filter((one) => ['new', 'take-over', 'correct'].includes(one.attachment));
  if (owned.length === 0) return;
  await queries.query(WRITE_CONTENTS, [
    column(owned, (one) => one.invoiceId),
    column(owned, (one) => one.generation),
    column(owned, (one) => JSON.stringify(one.staged.invoice)),
    column(owned, (one) => one.staged.invoice.merchant.legalName),
    column(owned, (one) => one.staged.invoice.merchant.email),
  ]);
}

async function attach(
  queries: Queries,
  batch: StagingBatch,
  portion: {
    readonly invoices: readonly StageInvoice[];
    readonly placed: readonly Placed[];
    readonly lookAlikes: LookAlikes;
  },
): Promise<void> {
  const placed = new Map<StageInvoice, Placed>(portion.placed.map((one) => [one.staged, one]));
  const lines = portion.invoices.map((staged) =>
    batchLine(staged, placed.get(staged), portion.lookAlikes.get(staged), batch.now),
  );
  await queries.query(INSERT_BATCH_INVOICES, [
    batch.batchId,
    column(lines, (line) => line.staged.ordinal),
    column(lines, (line) => line.invoiceId),
    column(lines, (line) => line.outcome),
    column(lines, (line) => line.nif),
    column(lines, (line) => line.ref),
    column(lines, (line) => line.currency),
    column(lines, (line) => line.staged.net),
    column(lines, (line) => arrayLiteral(line.staged.rows)),
    column(lines, (line) => (line.staged.findings.length === 0 ? null : JSON.stringify(line.staged.findings))),
    column(lines, (line) => line.reason?.code ?? null),
    column(lines, (line) => line.reason?.message ?? null),
  ]);
}

interface BatchLine {
  readonly staged: StageInvoice;
  readonly nif: string;
  readonly ref: string;
  readonly currency: string | null;
  readonly invoiceId: number | null;
  readonly outcome: 'invalid' | 'conflict' | 'already-issued' | null;
  readonly reason: Reason | null;
}

function batchLine(
  staged: StageInvoice,
  placed: Placed | undefined,
  lookAlike: LookAlike | undefined,
  now: number,
): BatchLine {
  if (staged.kind === 'invalid') {
    const worst =
      staged.findings.find((finding) => finding.severity === 'error') ?? staged.findings[0] ?? INVALID_WITHOUT_FINDING;
    const { merchantNif: nif, currency } = staged;
    return {
      staged,
      nif,
      // An invalid invoice must not keep the others out of the ledger, whatever its reference is.
      ref: fittingReference(staged.ref),
      currency,
      invoiceId: null,
      outcome: 'invalid',
      reason: { code: worst.code, message: worst.message },
    };
  }
  const { invoice } = staged;
  const line = { staged, nif: invoice.merchant.nif, ref: invoice.ref, currency: invoice.currency };
  const reason = lookAlike === undefined ? conflictOf(placed, now) : looksLike(line, lookAlike);
  if (reason !== null) return { ...line, invoiceId: null, outcome: 'conflict', reason };
  const outcome = placed?.attachment === 'already-issued' ? 'already-issued' : null;
  return { ...line, invoiceId: placed?.invoiceId ?? null, outcome, reason };
}

const INVALID_WITHOUT_FINDING = { code: 'invalid', message: 'A row of this invoice is wrong' };

const TWICE_IN_FILE = {
  code: 'identity-twice',
  message: 'The merchant and reference of this invoice stand twice in the file',
};

/** Returns why the batch cannot send its content, or null if it can, or if the invoice is the same. */
function conflictOf(placed: Placed | undefined, now: number): Reason | null {
  // Grouping makes the same identity twice in one portion impossible. A conflict is safer than a guess.
  if (placed === undefined) return TWICE_IN_FILE;
  const { staged, attachment, known, lost } = placed;
  const isConflict = attachment === 'conflict';
  if (!isConflict && attachment !== 'needs-risk') return null;
  const where = known === null ? '' : ` of batch "${known.ownerBatch}", there ${known.state}`;
  const found = `This merchant and reference are known with other content${where}`;
  if (isConflict)
    return {
      code: 'known-with-other-content',
      message: `${found}; a correction is possible once that one has failed or was rejected, or its batch has ended without sending it`,
    };
  const why =
    lost !== undefined || known?.flags.includes(OLDER_LEDGER) === true
      ? '; it was sent after the copy from which the ledger was restored. Look into the reports of that time (docs/deployment.md#restore-the-ledger)'
      : known !== null && !isRemembered(known, { now, retentionMs: staged.retentionMs ?? Infinity })
        ? ', which was sent so long ago that the service may have forgotten its key: Lote cannot ask with it whether a document exists after all'
        : ', and the service profile names no idempotency.mismatchCodes: the refusal may hide a document that exists';
  return {
    code: 'needs-accept-duplicate-risk',
    message: `${found}${why}. Ask the service; if there is none, run the corrections file of this batch with --accept-duplicate-risk`,
  };
}
