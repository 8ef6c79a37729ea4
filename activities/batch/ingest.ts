import { Context } from '@temporalio/activity';
import { attemptOverSoon } from '../attempt-over.ts';
import { TOTALS_DIFFER, totalsFinding } from '../../src/domain/control-totals.ts';
import { LoteError } from '../../src/domain/errors.ts';
import type { Finding, Reason } from '../../src/domain/invoice.ts';
import type { ClaimResult } from '../../src/domain/ports/ledger/batch-ledger.ts';
import type { BatchClaim, BatchRecord } from '../../src/domain/ports/ledger/batch-record.ts';
import { baseName, batchIdOf } from '../../src/contract/batch-id.ts';
import type { OperatorLinks, BatchInput, UnusualTotal } from '../../src/contract/messages.ts';
import type { ActivityDeps } from '../deps.ts';
import { sendingHold } from './sending-hold.ts';
import { holdUnsentBefore } from './hold-unsent-before.ts';
import { stoppedUnanswered } from '../stopped-unanswered.ts';
import { letGo, repeatUnknown } from './let-go.ts';
import { readOtherwise } from './read-otherwise.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';
import { stageGroups } from './stage-groups.ts';
import { temporalOfClaim } from './temporal-of-claim.ts';
import { checkTotal, checkTotalAgain, unusualTotalOf, unusualTotalReason } from './total-check.ts';

/**
 * More pages than this would make parent or page need continue-as-new; a very large batch gets larger pages instead.
 */
const MOST_PAGES = 500;

export interface IngestInput extends BatchInput {
  readonly workflowId: string;
  readonly runId: string;
  /** Known from an earlier reading: the file may have been moved since. */
  readonly sha256: string | null;
}

/** What became of a file: a batch to run, a batch that is closed, or one that another run holds. */
export type IngestResult =
  | RunningBatch
  | {
      readonly kind: 'closed' | 'refused';
      readonly ledgerId: string;
      readonly batchId: string;
      readonly desk: OperatorLinks;
      /** As in `BatchResult`, by the totals that this start declared. */
      readonly totalsDiffer?: string;
    }
  | {
      readonly kind: 'attached';
      readonly sha256: string;
      readonly workflowId: string;
      /** As in `OperatorLinks`. */
      readonly language?: string;
      /** The other run waits until an operator has confirmed this total of the batch; left out: it does not. */
      readonly unusual?: UnusualTotal & { readonly batchId: string };
      /** Id of the batch, which an operator has paused; left out: it is not. A page that is paused may wait although nothing of it is left to send. */
      readonly pausedBatch?: string;
    };

/** Claims the batch of a file for this run; reads, proves and stages it unless an earlier run did. */
export async function ingestBatch(deps: ActivityDeps, input: IngestInput): Promise<IngestResult> {
  const path = input.sha256 === null ? await deps.files.resolve(input.file) : null;
  const sha256 = input.sha256 ?? (await deps.files.hash(path ?? ''));
  const { claim, isLeft } = await claimBatch(deps, input, sha256);
  switch (claim.kind) {
    case 'owned':
      return attachedTo(deps, claim.batch, isLeft);
    case 'closed':
      return closedBatch(deps, input, claim.batch);
    case 'resumed':
      // The run that was paused has ended, and the pause with it.
      if (claim.batch.state === 'paused')
        await deps.ledger.setBatchState(claim.batch.batchId, 'running', deps.now(), claim.batch.fencingToken);
      return resumeBatch(deps, input, claim.batch);
    case 'claimed':
      return stageFile(deps, input, claim.batch);
  }
}

/** Nothing of it is left to send. Its report stays, and the totals that this start declared are compared all the same. */
async function closedBatch(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  const { ledger, operatorLinks } = deps;
  const closed = { kind: 'closed', ledgerId: ledger.id, batchId: batch.batchId, desk: operatorLinks() } as const;
  const hold = batch.state === 'refused' ? null : await holdOfKnown(deps, input, batch);
  return hold?.code === TOTALS_DIFFER ? { ...closed, totalsDiffer: hold.message } : closed;
}

/** What came of a claim; `isLeft`: the run that holds the batch has ended, and reconciliation closes it. */
interface Claimed {
  readonly claim: ClaimResult;
  readonly isLeft: boolean;
}

/**
 * Only a start of the file is an order to send what is left of it. A run that waited for another one has that one's end, and so has the run of a file that
 * a night took over from an earlier one: the operator may have stopped it because the wrong file went out.
 */
async function claimBatch(deps: ActivityDeps, input: IngestInput, sha256: string): Promise<Claimed> {
  const isOrder = input.sha256 === null && input.resumed !== true;
  const request = {
    batchId: batchIdOf(deps.application, input.file, sha256),
    application: deps.application,
    file: baseName(input.file),
    sha256,
    workflowId: input.workflowId,
    runId: input.runId,
    temporalId: await temporalOfClaim(deps),
    attempt: Context.current().info.attempt,
    now: deps.now(),
    // Who waited for the run that refused it takes over its answer; who drops the file anew may have declared what was
    // missing.
    rereadRefused: isOrder,
    waited: !isOrder,
  };
  const first = await deps.ledger.claimBatch({ ...request, takeOver: false });
  if (first.kind !== 'owned') return { claim: first, isLeft: false };
  const { workflowId, runId } = first.batch;
  if (await deps.runs.isOpen(workflowId, runId, input.runId)) {
    // A reconciliation holds it while it closes it; the state stays until then.
    const isClosing = first.batch.state === 'paused' && (await deps.runs.wasStopped(first.batch));
    return { claim: first, isLeft: isClosing };
  }
  // Reconciliation closes it. An earlier run of the same workflow, reset in the Temporal UI, is no other one, and nobody else closes its batch.
  const isOther = workflowId !== input.workflowId;
  if (input.resumed === true && isOther) return { claim: first, isLeft: true };
  const leavesStopped = !isOrder && isOther;
  const claim = await deps.ledger.claimBatch({
    ...{ ...request, takeOver: true, leavesStopped },
    closedRun: { workflowId, runId },
  });
  return { claim, isLeft: claim.kind === 'owned' };
}

async function stageFile(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  const { ledger, files } = deps;
  const { batchId } = batch;
  await ledger.restartStaging(batch);
  const signal = attemptOverSoon();
  const rows = files.rows(ledger.rowStore(batch));
  const path = await files.resolve(input.file);
  const read = await files.read({ path, store: rows, options: readOptions(input), signal });
  requireSameBytes(read.sha256, batch.sha256);
  if (!read.ok) {
    await ledger.refuseBatch(batch, {
      rows: read.rows,
      fileFindings: read.findings,
      proof: read.proof,
      now: deps.now(),
    });
    return { kind: 'refused', ledgerId: ledger.id, batchId, desk: deps.operatorLinks() };
  }
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
    fileFindings: [...holdFindings(hold), ...riskFindings(input), ...read.findings],
    proof: read.proof,
  });
  await holdUnsentBefore(deps, record);
  const unusual = await checkTotal(deps, { batch: record, input, isHeld: hold !== null });
  // It may hold invoices that an earlier file left unknown.
  if (!(await applyHold(deps, batch, hold ?? holdOf(deps, record, unusual)))) await repeatUnknown(deps, batch);
  return runningBatch(deps, record, unusual);
}

async function resumeBatch(deps: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<IngestResult> {
  await holdUnsentBefore(deps, batch);
  const otherwise = await readOtherwise(deps, batch, { file: input.file, options: readOptions(input) });
  // What was held for its bad rows or totals stays held when the same file is dropped again under the same rule.
  const hold = otherwise ?? (await holdOfKnown(deps, input, batch));
  // Held for its other reading: nobody has looked at its totals.
  if (otherwise === null) await keepTotalsFinding(deps, batch, hold);
  const unusual = await checkTotalAgain(deps, { batch, input, isHeld: hold !== null });
  // What an earlier run held says "drop the file again", and that is not enough any more.
  const andHeld = otherwise !== null;
  if (!(await applyHold(deps, batch, hold ?? holdOf(deps, batch, unusual), andHeld))) await letGo(deps, batch);
  return runningBatch(deps, batch, hold === null ? unusual : null);
}

/** Of a batch whose run has ended nothing can be resumed or confirmed: its end comes by itself. */
async function attachedTo(
  { ledger, speech }: ActivityDeps,
  { batchId, sha256, workflowId, state }: BatchRecord,
  isLeft: boolean,
): Promise<IngestResult> {
  const unusual = isLeft ? null : unusualTotalOf(await ledger.totalCheck(batchId));
  return {
    kind: 'attached',
    sha256,
    workflowId,
    language: speech.locale,
    ...(unusual === null ? {} : { unusual: { ...unusual, batchId } }),
    ...(state === 'paused' && !isLeft ? { pausedBatch: batchId } : {}),
  };
}

function holdOf(deps: ActivityDeps, { batchId }: BatchRecord, unusual: UnusualTotal | null): Reason | null {
  return unusual === null ? null : unusualTotalReason(deps, batchId, unusual);
}

function holdFindings(hold: Reason | null): readonly Finding[] {
  return hold?.code === TOTALS_DIFFER ? [totalsFinding(hold)] : [];
}

/** The report says of the totals what holds now: that they differ, or that a file in which they differed was let go. */
async function keepTotalsFinding({ ledger }: ActivityDeps, batch: BatchClaim, hold: Reason | null): Promise<void> {
  if (hold?.code === TOTALS_DIFFER) await ledger.noteTotals(batch, totalsFinding(hold));
  else await ledger.overruleTotals(batch, 'start');
}

/** Written into the report, as the same confirmation of a retry is written into the audit. */
function riskFindings({ acceptDuplicateRisk }: IngestInput): readonly Finding[] {
  if (acceptDuplicateRisk !== true) return [];
  const message =
    'This batch was started with the accepted risk of a duplicate: its content also replaces rejected invoices whose refusal is no proof';
  return [{ row: null, column: null, code: 'duplicate-risk-accepted', message, severity: 'info' }];
}

/** True when nothing of the batch may go: its unsent invoices are then held, and what a dead process had to send waits for a person; `andHeld`: those that are held already get the reason, too. */
async function applyHold(
  deps: ActivityDeps,
  { batchId, fencingToken }: BatchClaim,
  reason: Reason | null,
  andHeld = false,
): Promise<boolean> {
  if (reason === null) return false;
  // A process of an earlier run may have died before the POST: what says "Nothing of it was sent" must not send it.
  const unanswered = stoppedUnanswered(deps, 'held');
  await deps.ledger.holdUnsent(batchId, { reason, unanswered, now: deps.now(), fencingToken, andHeld });
  return true;
}

async function holdOfKnown({ ledger }: ActivityDeps, input: IngestInput, batch: BatchRecord): Promise<Reason | null> {
  const { batchId, invoices, rowsWithoutInvoice } = batch;
  const fileFindings = await ledger.fileFindings(batchId);
  const hasSent = await ledger.hasSent(batchId);
  return sendingHold(ledger, input, { batchId, invoices, rowsWithoutInvoice, fileFindings, hasSent });
}

/**
 * The file was hashed to name its batch, and is hashed again while it is read: a change between the two is a
 * half-written file.
 */
function requireSameBytes(read: string, claimed: string): void {
  if (read === claimed) return;
  throw new LoteError(
    'file-changed',
    'The file changed while it was read, so nothing of it was sent. Wait until it is complete, then drop it again.',
  );
}

function readOptions(input: IngestInput) {
  const { profile, decimal, encoding, delimiter, sheet, duplicateRows, lookAlikes } = input;
  return {
    ...(profile === undefined ? {} : { profile }),
    ...(decimal === undefined ? {} : { decimal }),
    ...(encoding === undefined ? {} : { encoding }),
    ...(delimiter === undefined ? {} : { delimiter }),
    ...(sheet === undefined ? {} : { sheet }),
    ...(duplicateRows === undefined ? {} : { duplicateRows }),
    ...(lookAlikes === undefined ? {} : { lookAlikes }),
  };
}
