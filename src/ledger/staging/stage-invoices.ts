import { LoteError } from '../../domain/errors.ts';
import type { InvoiceIdentity } from '../../domain/fingerprint.ts';
import type { InvoiceState } from '../../domain/invoice-state.ts';
import { shownSpelling } from '../../domain/look-alike.ts';
import type { StageInvoice } from '../../domain/ports/ledger/batch-ledger.ts';
import { arrayLiteral, column } from '../database/array-literal.ts';
import { OLDER_LEDGER } from '../../domain/retry-decision.ts';
import { fittingReference } from '../../domain/text/fitting-reference.ts';
import type { Queries } from '../database/database.ts';
import type { KeyOf } from '../database/key-of.ts';
import { type Attachment, decideAttachment } from './attachment.ts';
import { CORRECT_INVOICES, KEEP_GENERATION, KEEP_OUTCOMES } from './correct-invoices-sql.ts';
import { findLookAlikes, type LookAlike } from './find-look-alikes.ts';
import { findOtherZeros } from './find-other-zeros.ts';
import {
  INSERT_BATCH_INVOICES,
  INSERT_INVOICES,
  type InsertedInvoice,
  type KnownInvoice,
  LOCK_KNOWN_INVOICES,
  TAKE_OVER_INVOICES,
  WRITE_CONTENTS,
} from './insert-invoices-sql.ts';
import { lockSpellings } from './lock-spellings.ts';
import { type InvoiceKeys, invoiceKeys } from './look-alike-key.ts';

export interface StagingBatch {
  readonly batchId: string;
  readonly application: string;
  readonly now: number;
  readonly keyOf: KeyOf;
}

type ValidInvoice = Extract<StageInvoice, { kind: 'valid' }>;

/** A valid invoice of the file with the keys under which the ledger looks for it. */
interface Keyed {
  readonly staged: ValidInvoice;
  readonly keys: InvoiceKeys;
}

/** A valid invoice of the file beside what the ledger has of it. */
interface Placed {
  readonly staged: ValidInvoice;
  readonly invoiceId: number;
  readonly generation: number;
  readonly attachment: Attachment | 'new';
  readonly known: KnownInvoice | null;
}

/** One portion of a batch's invoices, in set statements; runs inside a transaction. */
export async function stageInvoices(
  queries: Queries,
  batch: StagingBatch,
  invoices: readonly StageInvoice[],
): Promise<void> {
  const valid = invoices
    .filter((one) => one.kind === 'valid')
    .map((staged) => ({ staged, keys: invoiceKeys(identityOf(batch.application, staged)) }));
  await lockSpellings(
    queries,
    batch.application,
    valid.map(({ staged, keys }) => ({ nif: staged.invoice.merchant.nif, keys })),
  );
  const lookAlikes = await lookAlikesOf(queries, batch, valid);
  const placed = await place(
    queries,
    batch,
    valid.filter(({ staged }) => !lookAlikes.has(staged.ordinal)),
  );
  await takeOver(queries, batch, placed);
  await correct(queries, batch, placed);
  await writeContents(queries, placed);
  await attach(queries, batch, { invoices, placed, lookAlikes });
}

/** By ordinal: invoices whose reference looks like another one of the ledger, unless somebody has confirmed that they are two. */
async function lookAlikesOf(
  queries: Queries,
  batch: StagingBatch,
  valid: readonly Keyed[],
): Promise<ReadonlyMap<number, LookAlike>> {
  const asked = valid.filter(({ staged }) => staged.lookAlikesKept !== true);
  const found = await findLookAlikes(
    queries,
    batch.batchId,
    asked.map(({ keys }) => keys),
  );
  const otherZeros = await findOtherZeros(
    queries,
    batch.batchId,
    asked.map(({ staged }) => identityOf(batch.application, staged)),
  );
  const byOrdinal = new Map<number, LookAlike>();
  if (found.size === 0 && otherZeros.size === 0) return byOrdinal;
  for (const { staged, keys } of asked) {
    const lookAlike = found.get(keys.identity) ?? otherZeros.get(keys.identity);
    if (lookAlike !== undefined) byOrdinal.set(staged.ordinal, lookAlike);
  }
  return byOrdinal;
}

/** Rounds of inserting and locking; each but the first means that another file began its staging anew in between. */
const MOST_ROUNDS = 5;

/**
 * Inserts what is new, locks what is known, and decides about it. What was known at the insert may be gone at the lock: the staging of its batch has
 * begun anew, and nobody had sent it. It is new then.
 */
async function place(queries: Queries, batch: StagingBatch, valid: readonly Keyed[]): Promise<readonly Placed[]> {
  const byIdentity = new Map(valid.map((one) => [one.keys.identity, one]));
  const placed: Placed[] = [];
  const put = (identity: string, placeOf: (staged: ValidInvoice) => Placed): void => {
    const staged = byIdentity.get(identity)?.staged;
    if (staged === undefined) return;
    placed.push(placeOf(staged));
    byIdentity.delete(identity);
  };
  for (let round = 1; byIdentity.size > 0; round += 1) {
    if (round > MOST_ROUNDS) throw goneEachTime(batch, byIdentity.size);
    for (const { identity, invoice_id: invoiceId } of await insertNew(queries, batch, [...byIdentity.values()]))
      put(identity, (staged) => ({ staged, invoiceId, generation: 1, attachment: 'new', known: null }));
    if (byIdentity.size === 0) break;
    const identities = arrayLiteral([...byIdentity.keys()]);
    for (const known of await queries.query<KnownInvoice>(LOCK_KNOWN_INVOICES, [identities, batch.batchId]))
      put(known.identity, (staged) => placeKnown(staged, known));
  }
  return placed;
}

function goneEachTime({ batchId }: StagingBatch, invoices: number): LoteError {
  return new LoteError(
    'ledger-race',
    `Staging invoices of batch "${batchId}": each must be new to the ledger or known to it, but ${invoices} were known when they were inserted and gone when they were locked, ${MOST_ROUNDS} times; other files with the same invoices are being read again and again. Nothing of this portion was written; the file is read again`,
  );
}

function insertNew(
  queries: Queries,
  batch: StagingBatch,
  items: readonly Keyed[],
): Promise<readonly InsertedInvoice[]> {
  return queries.query<InsertedInvoice>(INSERT_INVOICES, [
    batch.application,
    batch.batchId,
    batch.now,
    column(items, ({ keys }) => keys.identity),
    column(items, (item) => item.staged.invoice.merchant.nif),
    column(items, (item) => item.staged.invoice.ref),
    column(items, (item) => item.staged.fingerprint),
    column(items, (item) => item.staged.idempotencyKey),
    column(items, ({ keys }) => oddKey(keys)),
  ]);
}

function placeKnown(staged: ValidInvoice, known: KnownInvoice): Placed {
  const attachment = decideAttachment({
    sameFingerprint: known.fingerprint === staged.fingerprint,
    state: known.state as InvoiceState,
    ownerIdle: known.owner_idle,
    awaited: known.awaited,
    blocked: known.other_alive || known.flags.includes('issued-in-earlier-generation'),
    keepsRejected: staged.keepsRejected === true,
    isDoubtful: known.flags.includes(OLDER_LEDGER),
    inSendingGap: staged.inSendingGap === true,
    riskAccepted: staged.riskAccepted === true,
  });
  const generation = attachment === 'correct' ? known.generation + 1 : known.generation;
  return { staged, invoiceId: known.invoice_id, generation, attachment, known };
}

async function takeOver(queries: Queries, batch: StagingBatch, placed: readonly Placed[]): Promise<void> {
  const taken = placed.filter((one) => one.attachment === 'take-over');
  if (taken.length === 0) return;
  await queries.query(TAKE_OVER_INVOICES, [batch.batchId, batch.now, column(taken, (one) => one.invoiceId)]);
}

async function correct(queries: Queries, batch: StagingBatch, placed: readonly Placed[]): Promise<void> {
  const corrected = placed.filter((one) => one.attachment === 'correct');
  if (corrected.length === 0) return;
  const ids = column(corrected, (one) => one.invoiceId);
  await queries.query(KEEP_GENERATION, [ids]);
  await queries.query(KEEP_OUTCOMES, [ids]);
  await queries.query(CORRECT_INVOICES, [
    batch.batchId,
    batch.now,
    ids,
    column(corrected, (one) => one.staged.fingerprint),
    column(corrected, (one) =>
      batch.keyOf(identityOf(batch.application, one.staged), one.staged.fingerprint, one.generation),
    ),
  ]);
}

/** Content goes with the batch that will send it: a re-dropped file may bring the merchant's details that were missing. */
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
    readonly lookAlikes: ReadonlyMap<number, LookAlike>;
  },
): Promise<void> {
  const placedByOrdinal = new Map(portion.placed.map((one) => [one.staged.ordinal, one]));
  const lines = portion.invoices.map((staged) => {
    const { ordinal } = staged;
    return batchLine(staged, placedByOrdinal.get(ordinal), portion.lookAlikes.get(ordinal));
  });
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
  readonly reason: { readonly code: string; readonly message: string } | null;
}

function batchLine(staged: StageInvoice, placed: Placed | undefined, lookAlike: LookAlike | undefined): BatchLine {
  if (staged.kind === 'invalid') {
    const worst =
      staged.findings.find((finding) => finding.severity === 'error') ?? staged.findings[0] ?? INVALID_WITHOUT_FINDING;
    const { merchantNif: nif, currency } = staged;
    return {
      staged,
      nif,
      // Whatever its file says, an invalid invoice must not keep the others out of the ledger.
      ref: fittingReference(staged.ref),
      currency,
      invoiceId: null,
      outcome: 'invalid',
      reason: { code: worst.code, message: worst.message },
    };
  }
  const { invoice } = staged;
  const line = { staged, nif: invoice.merchant.nif, ref: invoice.ref, currency: invoice.currency };
  if (lookAlike !== undefined)
    return { ...line, invoiceId: null, outcome: 'conflict', reason: looksLike(invoice.ref, lookAlike) };
  // Twice the same identity in one portion: grouping makes that impossible, and to guess would be worse than to say so.
  if (placed === undefined) return { ...line, invoiceId: null, outcome: 'conflict', reason: TWICE_IN_FILE };
  if (placed.attachment === 'needs-risk')
    return { ...line, invoiceId: null, outcome: 'conflict', reason: needsRisk(placed) };
  if (placed.attachment === 'conflict')
    return { ...line, invoiceId: null, outcome: 'conflict', reason: conflictWith(placed) };
  const outcome = placed.attachment === 'already-issued' ? 'already-issued' : null;
  return { ...line, invoiceId: placed.invoiceId, outcome, reason: null };
}

const INVALID_WITHOUT_FINDING = { code: 'invalid', message: 'A row of this invoice is wrong' };

const TWICE_IN_FILE = {
  code: 'identity-twice',
  message: 'The merchant and reference of this invoice stand twice in the file',
};

function conflictWith({ known }: Placed): { readonly code: string; readonly message: string } {
  const where = known === null ? '' : ` of batch "${known.owner_batch}", there ${known.state}`;
  return {
    code: 'known-with-other-content',
    message: `This merchant and reference are known with other content${where}; a correction is possible once that one has failed or was rejected, or its batch has ended without sending it`,
  };
}

function needsRisk({ staged, known }: Placed): { readonly code: string; readonly message: string } {
  const where = known === null ? '' : ` of batch "${known.owner_batch}", there ${known.state}`;
  const code = 'needs-accept-duplicate-risk';
  if (staged.inSendingGap === true || known?.flags.includes(OLDER_LEDGER) === true)
    return {
      code,
      message:
        `This merchant and reference are known with other content${where}; the ledger was restored from an older copy, so that an invoice may have been issued after the copy. ` +
        'Look into the reports of that time, or ask the service (docs/operations/backup.md). If there is none, or this content was sent then, run the corrections file of this batch with --accept-duplicate-risk',
    };
  return {
    code,
    message:
      `Other content of this merchant and reference was rejected${known === null ? '' : ` in batch "${known.owner_batch}"`}, and the service profile names no idempotency.mismatchCodes: ` +
      'the refusal may hide a document that exists. Ask the service; if there is none, run the corrections file of this batch with --accept-duplicate-risk',
  };
}

function looksLike(ref: string, { ref: other, ownerBatch, state, nif }: LookAlike): BatchLine['reason'] {
  const isOther = other !== ref;
  const seen = JSON.stringify(shownSpelling(ref));
  if (nif !== undefined)
    return {
      code: 'nif-look-alike',
      message: `The reference ${isOther ? `${seen} looks like ${JSON.stringify(shownSpelling(other))}, which is` : `${seen} is`} known under the tax number ${nif}, which differs only in the zeros in front, of batch "${ownerBatch}", there ${state}. A spreadsheet drops such zeros: write ${isOther ? 'reference and tax number' : 'the tax number'} in the same way if it is the same merchant; if they are two, drop the corrections with --look-alikes keep`,
    };
  return {
    code: 'reference-look-alike',
    message: `The reference ${seen} looks like ${JSON.stringify(shownSpelling(other))} of batch "${ownerBatch}", there ${state}, and is not the same. Write it in the same way if it is the same invoice; if they are two, drop the corrections with --look-alikes keep`,
  };
}

/** Null for nearly all: their reference is its own skeleton, and their identity tells as much. */
function oddKey({ identity, lookAlike }: InvoiceKeys): string | null {
  return lookAlike === identity ? null : lookAlike;
}

function identityOf(application: string, staged: ValidInvoice): InvoiceIdentity {
  return { application, merchantNif: staged.invoice.merchant.nif, ref: staged.invoice.ref };
}
