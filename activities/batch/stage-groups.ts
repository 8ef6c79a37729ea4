import { setImmediate as breath } from 'node:timers/promises';
import { eachOf } from '../../src/platform/concurrency.ts';
import type { BatchInput } from '../../src/domain/messages/messages.ts';
import type { ActivityDeps, ReadFileOk } from '../deps.ts';
import { fingerprintOf, idempotencyKeyOf } from '../../src/domain/fingerprint.ts';
import { netOf } from '../../src/domain/money.ts';
import type { GroupedInvoice, RowStore } from '../../src/domain/row.ts';
import type { BatchClaim } from '../../src/domain/records/batch-record.ts';
import type { StageInvoice } from '../../src/ledger/staging/stage-invoices.ts';

/** Invoices per set statement: large enough to amortise the round trip, small enough to stay under two megabytes. */
const PORTION = 1_000;

/**
 * Portions that the ledger writes at a time: while one waits for the disk or for this process, the database works on the other. Each holds a shared
 * lock of the batch's row. With three, a later claim would wait for the end of the file; with two, it waits for at most a few portions.
 */
const WRITES = 2;

/** Number of invoices made in one go, before the process reads the ledger's answers and sends its next statement. */
const IN_ONE_GO = 100;

interface StagedFile {
  readonly claim: BatchClaim;
  readonly read: ReadFileOk<unknown>;
  readonly rows: RowStore;
  /** Aborted when the attempt is over. */
  readonly signal: AbortSignal;
}

/**
 * Turns the rows of a fully read file into invoices and stages them, portion by portion. Returns their number.
 * @throws the signal's reason, between two portions
 */
export async function stageGroups(deps: ActivityDeps, input: BatchInput, file: StagedFile): Promise<number> {
  let staged = 0;
  await eachOf(portionsOf(deps, input, file), WRITES, async (portion) => {
    file.signal.throwIfAborted();
    await deps.ledger.stageInvoices(file.claim, portion, deps.now());
    staged += portion.length;
  });
  return staged;
}

async function* portionsOf(
  { application, files, settings }: ActivityDeps,
  input: BatchInput,
  { read, rows }: StagedFile,
): AsyncGenerator<readonly StageInvoice[]> {
  const confirmed = confirmedBy(settings, input);
  let ordinal = 0;
  let portion: StageInvoice[] = [];
  for await (const group of rows.groups()) {
    for (const grouped of files.toInvoices(group, read.conversion)) {
      ordinal += 1;
      const staged = stageInvoice(application, ordinal, grouped);
      portion.push(staged.kind === 'valid' ? { ...staged, ...confirmed } : staged);
      if (ordinal % IN_ONE_GO === 0) await breath();
    }
    if (portion.length < PORTION) continue;
    yield portion;
    portion = [];
  }
  if (portion.length > 0) yield portion;
}

/** Returns the starter's confirmations and the service's guarantees for each valid invoice of the batch. */
function confirmedBy(
  { retry }: ActivityDeps['settings'],
  { acceptDuplicateRisk, lookAlikes }: BatchInput,
): Pick<Extract<StageInvoice, { kind: 'valid' }>, 'keepsRejected' | 'riskAccepted' | 'lookAlikesKept' | 'retentionMs'> {
  return {
    retentionMs: retry.retentionMs,
    ...(retry.rejectionIsProof || acceptDuplicateRisk === true ? {} : { keepsRejected: true }),
    ...(acceptDuplicateRisk === true ? { riskAccepted: true } : {}),
    ...(lookAlikes === 'keep' ? { lookAlikesKept: true } : {}),
  };
}

/** Turns an invoice of a file into its staged form; `ordinal` counts the invoices of the file from 1. */
export function stageInvoice(application: string, ordinal: number, grouped: GroupedInvoice): StageInvoice {
  if (grouped.ok) return stageValid(application, ordinal, grouped);
  const { ref, nif, currency, net, rows, findings } = grouped;
  return { kind: 'invalid', ordinal, ref, merchantNif: nif, currency, net, rows, findings };
}

/** Stages a valid invoice: derives its fingerprint, its first key and its net from its content. */
export function stageValid(
  application: string,
  ordinal: number,
  { invoice, rows, findings }: Omit<Extract<GroupedInvoice, { ok: true }>, 'ok'>,
): Extract<StageInvoice, { kind: 'valid' }> {
  const fingerprint = fingerprintOf(invoice);
  const identity = { application, merchantNif: invoice.merchant.nif, ref: invoice.ref };
  return {
    kind: 'valid',
    ordinal,
    invoice,
    fingerprint,
    idempotencyKey: idempotencyKeyOf(identity, fingerprint, 1),
    net: netOf(invoice.lines),
    rows,
    findings,
  };
}
