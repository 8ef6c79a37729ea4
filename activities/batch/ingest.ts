import { Context } from '@temporalio/activity';
import { attemptOver, attemptsWithoutEnd } from '../failure.ts';
import { TOTALS_DIFFER, totalsFinding } from '../../src/domain/control-totals.ts';
import { LoteError } from '../../src/domain/errors.ts';
import type { Finding, Reason } from '../../src/domain/invoice.ts';
import { baseName, batchIdOf } from '../../src/domain/messages/batch-id.ts';
import type { OperatorLinks, BatchInput, UnusualTotal } from '../../src/domain/messages/messages.ts';
import { READ_OPTIONS, type ActivityDeps, type ReadFileOk, type ReadOptions } from '../deps.ts';
import { sendingHold } from './sending-hold.ts';
import { closeClaimed, recordStopOf } from '../settling/close-orphans.ts';
import { letGo, repeatUnknown } from './retry.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';
import { stageGroups } from './stage-groups.ts';
import { checkTotal, checkTotalAgain, unusualTotalOf, unusualTotalReason } from './total-check.ts';
import type { BatchClaim, BatchRecord, StartOrder } from '../../src/domain/records/batch-record.ts';
import type { ClaimResult } from '../../src/ledger/batches/claiming.ts';

/** More pages would need continue-as-new in parent or page, so a very large batch gets larger pages instead. */
const MOST_PAGES = 500;

export interface IngestInput extends BatchInput {
  readonly workflowId: string;
  readonly runId: string;
  /** Known from an earlier reading, or null. The file may have been moved since then. */
  readonly sha256: string | null;
  readonly order: StartOrder;
  /** Runs that were ended so that this run continues in their place. */
  readonly replaces?: readonly string[] | undefined;
}

/** Without this limit, a file that ends its worker on each reading would do so for ever. */
const READINGS_WITHOUT_END = 3;
const READING_ENDS_WORKER = {
  code: 'reading-ends-worker',
  message:
    'Reading the file: it must end, but three workers ended while they read it; the memory of a worker may be too small for it. Nothing of it was sent. Split it, or give the workers more memory (NODE_OPTIONS=--max-old-space-size=…), then drop it again.',
};

/** The result of a file: a batch to run, a batch that is closed, or a batch that another run holds. */
export type IngestResult =
  | RunningBatch
  | {
      readonly kind: 'closed' | 'refused';
      readonly ledgerId: string;
      readonly batchId: string;
      readonly desk: OperatorLinks;
      /** As in `BatchResult`, for the totals that this start declared. */
      readonly totalsDiffer?: string;
    }
  | {
      readonly kind: 'attached';
      readonly sha256: string;
      readonly workflowId: string;
    };

/** Claims the batch of a file for this run; reads, proves and stages it unless an earlier run did. */
export async function ingestBatch(deps: ActivityDeps, input: IngestInput): Promise<IngestResult> {
  const path = input.sha256 === null ? await deps.files.resolve(input.file) : null;
  const sha256 = input.sha256 ?? (await deps.files.hash(path ?? ''));
  const claim = await claimBatch(deps, input, sha256);
  switch (claim.kind) {
    case 'owned':
      return { kind: 'attached', sha256, workflowId: claim.batch.workflowId };
    case 'stopped':
      await closeClaimed(deps, claim.batch);
      return closedBatch(deps, input, claim.batch);
    case 'closed':
      return closedBatch(deps, input, claim.batch);
    case 'resumed':
      if (input.order !== 'restart') return resumeBatch(deps, input, claim.batch);
      // A run that had read its file was ended and starts again, so its decision about the file still holds.
      return runningBatch(deps, claim.batch, unusualTotalOf(await deps.ledger.totalCheck(claim.batch.batchId)));
    case 'claimed':
      return stageFile(deps, input, claim.batch);
  }
}

/** Leaves a closed batch and its report as they are, but still compares the totals that this start declared. */
async function closedBatch(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  const { ledger, operatorLinks } = deps;
  const closed = { kind: 'closed', ledgerId: ledger.id, batchId: batch.batchId, desk: operatorLinks() } as const;
  const hold = batch.state === 'refused' ? null : await holdOfKnown(deps, input, batch);
  return hold?.code === TOTALS_DIFFER ? { ...closed, totalsDiffer: hold.message } : closed;
}

/** Claims the batch. If the run that holds it has ended, asks Temporal whether an operator ended it. */
async function claimBatch(deps: ActivityDeps, input: IngestInput, sha256: string): Promise<ClaimResult> {
  const request = {
    batchId: batchIdOf(deps.application, input.file, sha256),
    application: deps.application,
    file: baseName(input.file),
    sha256,
    workflowId: input.workflowId,
    runId: input.runId,
    attempt: Context.current().info.attempt,
    now: deps.now(),
    order: input.order,
  };
  const first = await deps.ledger.claimBatch({ ...request, takeOver: false });
  if (first.kind !== 'owned') return first;
  const { workflowId, runId } = first.batch;
  if (await deps.runs.isOpen(workflowId, runId, input.runId)) return first;
  // Lote itself ended a run that this run replaces, so no operator's stop is recorded.
  const goesOn = input.replaces?.includes(runId) === true;
  if (input.order !== 'person' && !goesOn) await recordStopOf(deps, first.batch);
  const order = input.order === 'restart' && !goesOn ? 'none' : input.order;
  return deps.ledger.claimBatch({ ...request, order, takeOver: true, closedRun: { workflowId, runId } });
}

async function stageFile(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  const { ledger, files } = deps;
  const { batchId } = batch;
  await ledger.restartStaging(batch);
  const withoutEnd = attemptsWithoutEnd();
  if (withoutEnd >= READINGS_WITHOUT_END) {
    const finding = { row: null, column: null, ...READING_ENDS_WORKER, severity: 'error' } as const;
    return refuse(deps, batch, { rows: 0, findings: [finding], proof: {} });
  }
  Context.current().heartbeat(withoutEnd + 1);
  const signal = attemptOver();
  const rows = files.rows(ledger.rowStore(batch));
  const path = await files.resolve(input.file);
  const read = await files.read({ path, store: rows, options: readOptions(input), signal });
  requireSameBytes(read.sha256, batch.sha256);
  if (!read.ok) return refuse(deps, batch, read);
  const invoices = await stageGroups(deps, input, { claim: batch, read, rows, signal });
  const { rowsWithoutInvoice } = read;
  const hold = await sendingHold(ledger, input, {
    batchId,
    invoices,
    rowsWithoutInvoice,
    fileFindings: read.findings,
  });
  const record = await ledger.finishStaging(batch, {
    rows: read.rows,
    rowsWithoutInvoice,
    invoices,
    pageSize: Math.max(deps.settings.pageSize, Math.ceil(invoices / MOST_PAGES)),
    fileFindings: [...ownFindings(input, hold), ...read.findings],
    proof: read.proof,
  });
  const unusual = await checkTotal(deps, { batch: record, input, isHeld: hold !== null });
  // The file may hold invoices that an earlier file left unknown.
  if (!(await applyHold(deps, batch, hold ?? holdOf(record, unusual)))) await repeatUnknown(deps, batch);
  return runningBatch(deps, record, unusual);
}

async function refuse(
  { ledger, now, operatorLinks }: ActivityDeps,
  batch: BatchRecord,
  { rows, findings, proof }: Pick<ReadFileOk<unknown>, 'rows' | 'findings' | 'proof'>,
): Promise<IngestResult> {
  await ledger.refuseBatch(batch, { rows, fileFindings: findings, proof, now: now() });
  return { kind: 'refused', ledgerId: ledger.id, batchId: batch.batchId, desk: operatorLinks() };
}

async function resumeBatch(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  const otherwise = await readOtherwise(deps, batch, { file: input.file, options: readOptions(input) });
  // A batch held for its bad rows or totals stays held when the same file is dropped again under the same rule.
  const hold = otherwise ?? (await holdOfKnown(deps, input, batch));
  // If the batch is held because it would be read differently, its totals were not compared.
  if (otherwise === null) await keepTotalsFinding(deps, batch, hold);
  const unusual = await checkTotalAgain(deps, { batch, input, isHeld: hold !== null });
  // The reasons of the held invoices say "drop the file again", which is no longer enough.
  const andHeld = otherwise !== null;
  if (!(await applyHold(deps, batch, hold ?? holdOf(batch, unusual), andHeld))) await letGo(deps, batch);
  return runningBatch(deps, batch, hold === null ? unusual : null);
}

function holdOf({ batchId }: BatchRecord, unusual: UnusualTotal | null): Reason | null {
  return unusual === null ? null : unusualTotalReason(batchId, unusual);
}

/** Updates the finding about the totals: they differ, or a person released a file with differing totals. */
async function keepTotalsFinding({ ledger }: ActivityDeps, batch: BatchClaim, hold: Reason | null): Promise<void> {
  if (hold?.code === TOTALS_DIFFER) await ledger.noteTotals(batch, totalsFinding(hold));
  else await ledger.overruleTotals(batch, 'start');
}

/** Returns the reason of the hold and the accepted risk, as the audit records it for a retry. */
function ownFindings({ acceptDuplicateRisk }: IngestInput, hold: Reason | null): readonly Finding[] {
  const message =
    'This batch was started with the accepted risk of a duplicate: its content also replaces rejected invoices whose refusal is no proof';
  const risk = { row: null, column: null, code: 'duplicate-risk-accepted', message, severity: 'info' } as const;
  return [
    ...(hold?.code === TOTALS_DIFFER ? [totalsFinding(hold)] : []),
    ...(acceptDuplicateRisk === true ? [risk] : []),
  ];
}

const UNANSWERED: Reason = {
  code: 'run-lost',
  message:
    'A process of an earlier run had this invoice to send, and no answer is known: it may have been sent. Its file was started again and is held. To send it, or to find out with the same key, run the file again without what holds it.',
};

/** Holds unsent invoices and those that a dead process had to send. Returns true if nothing may be sent. `andHeld`: held invoices get the reason, too. */
async function applyHold(
  deps: ActivityDeps,
  batch: BatchRecord,
  reason: Reason | null,
  andHeld = false,
): Promise<boolean> {
  if (reason === null) return false;
  const { batchId, fencingToken } = batch;
  const now = deps.now();
  await deps.ledger.recordStop(batch, { what: 'held', at: now, who: null, why: reason.message });
  // A process may have died before its POST. A hold that says "Nothing of it was sent" must hold the invoice of that process, too.
  await deps.ledger.holdUnsent(batchId, { reason, unanswered: UNANSWERED, now, fencingToken, andHeld });
  return true;
}

async function holdOfKnown({ ledger }: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<Reason | null> {
  const { batchId, invoices, rowsWithoutInvoice } = batch;
  const fileFindings = await ledger.fileFindings(batchId);
  const hasSent = await ledger.hasSent(batchId);
  return sendingHold(ledger, input, { batchId, invoices, rowsWithoutInvoice, fileFindings, hasSent });
}

/** Lote hashes the file to name its batch, and again while it reads the file. Different hashes mean a half-written file. */
function requireSameBytes(read: string, claimed: string): void {
  if (read === claimed) return;
  throw new LoteError(
    'file-changed',
    'The file changed while it was read, so nothing of it was sent. Wait until it is complete, then drop it again.',
  );
}

function readOptions(input: IngestInput): ReadOptions {
  const declared = READ_OPTIONS.filter((name) => input[name] !== undefined);
  return Object.fromEntries(declared.map((name) => [name, input[name]]));
}

/**
 * Returns why nothing more of a batch may be sent although a person starts its file again: Lote would read the file
 * differently now, while the ledger has the first reading, and the person has seen the new one. Returns null otherwise.
 */
async function readOtherwise(
  { files }: Pick<ActivityDeps, 'files'>,
  { batchId, sha256, proof }: Pick<BatchRecord, 'batchId' | 'sha256' | 'proof'>,
  start: { readonly file: string; readonly options: ReadOptions },
): Promise<Reason | null> {
  const differences = await files.readOtherwise({ ...start, sha256, proof });
  if (differences.length === 0) return null;
  const retry = `lote retry ${batchId} --state held --reason WHY`;
  return {
    code: 'read-otherwise',
    message: `The file was started again and must be read as before, because the ledger has its invoices as they were read then; found ${differences.join('; ')}. Nothing more of it was sent. If the new reading is right, change the bytes of the file (add an empty line at its end; save a workbook once more) and start that one: it replaces what was never sent, and what was sent is a conflict. If the earlier reading is right, start the file as it was read then, or: ${retry}`,
  };
}
