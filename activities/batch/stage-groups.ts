import { setImmediate as breath } from 'node:timers/promises';
import { eachOfStream } from '../../src/concurrency/each-of-stream.ts';
import type { StageInvoice } from '../../src/domain/ports/ledger/batch-ledger.ts';
import type { BatchClaim } from '../../src/domain/ports/ledger/batch-record.ts';
import type { RowStore } from '../../src/domain/ports/row-store.ts';
import type { BatchInput } from '../../src/contract/messages.ts';
import type { ActivityDeps, ReadFileOk } from '../deps.ts';
import { stageInvoice } from './stage-invoice.ts';

/**
 * Invoices per set statement: large enough to amortise the round trip, small enough to stay under a megabyte or two.
 */
const PORTION = 1_000;

/**
 * Portions that the ledger writes at a time: while one waits for the disk or for this process, the database works on the other. Each holds a shared lock
 * of the batch's row; with three of them a later claim waits until the file ends, with two for at most a few portions more than with one.
 */
const WRITES = 2;

/** Invoices that are made in one go: then the process reads what the ledger has answered, and sends its next statement. */
const IN_ONE_GO = 100;

interface StagedFile {
  readonly claim: BatchClaim;
  readonly read: ReadFileOk<unknown>;
  readonly rows: RowStore;
  /** Aborted when the attempt is over. */
  readonly signal: AbortSignal;
}

/**
 * Turns the rows of a file that was read whole into invoices and stages them, portion by portion. Returns how many they are.
 * @throws the signal's reason, between two portions
 */
export async function stageGroups(deps: ActivityDeps, input: BatchInput, file: StagedFile): Promise<number> {
  let staged = 0;
  await eachOfStream(portionsOf(deps, input, file), WRITES, async (portion) => {
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

/** What the starter of the batch has confirmed, for each of its valid invoices. */
function confirmedBy(
  { retry }: ActivityDeps['settings'],
  { acceptDuplicateRisk, lookAlikes }: BatchInput,
): { readonly keepsRejected?: true; readonly riskAccepted?: true; readonly lookAlikesKept?: true } {
  return {
    ...(retry.rejectionIsProof || acceptDuplicateRisk === true ? {} : { keepsRejected: true }),
    ...(acceptDuplicateRisk === true ? { riskAccepted: true } : {}),
    ...(lookAlikes === 'keep' ? { lookAlikesKept: true } : {}),
  };
}
