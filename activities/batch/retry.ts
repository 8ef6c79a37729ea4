import { ApplicationFailure, Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import type { RetryPolicy } from '../../src/domain/retry-decision.ts';
import type { RetryRequestInput } from '../../src/domain/messages/messages.ts';
import type { BatchWork } from '../assert-ownership.ts';
import type { ActivityDeps } from '../deps.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';
import type {
  BatchRecord,
  BatchWriter,
  ClaimingRun,
  FencingToken,
  NotedAction,
} from '../../src/domain/records/batch-record.ts';
import type { ReopenBatch } from '../../src/ledger/batches/claiming.ts';
import type { RetryResult, RetrySelection } from '../../src/ledger/operations/retrying.ts';

export interface ReopenInput extends ClaimingRun {
  readonly ledgerId?: string | undefined;
  readonly batchId: string;
  readonly request: RetryRequestInput;
}

export interface SendAgainInput extends BatchWork {
  /** Prefix of the ids of the audit lines, so that a repeated step writes each line once. */
  readonly actionId: string;
  readonly requests: readonly RetryRequestInput[];
  /** The retry policy of the service profile may add failed invoices. */
  readonly automatic: boolean;
}

/** The batch as it runs now, with the pages that have something to send. */
export interface Reopened {
  readonly batch: RunningBatch;
  readonly moved: number;
  readonly refused: Readonly<Record<string, number>>;
}

const LOTE = 'lote';

/** Claims a closed batch for this run and sends the selected invoices again. */
export async function reopenBatch(deps: ActivityDeps, input: ReopenInput): Promise<Reopened> {
  const { batchId, workflowId, runId, request } = input;
  const { attempt } = Context.current().info;
  const run = { batchId, workflowId, runId, attempt };
  const { fencingToken } = await claim(deps, { ...run, endsStop: isForAllHeld(request) });
  const result = await retry(deps, { batchId, actionId: `${workflowId}/${runId}/start`, request, fencingToken });
  return reopened(deps, batchId, [result]);
}

/** Returns whether the retry is for the whole batch. A retry of some rows, or of failed invoices, sends these and leaves the batch stopped. */
function isForAllHeld({ rows = [], states = [] }: RetryRequestInput): boolean {
  return rows.length === 0 && (states.length === 0 || states.includes('held'));
}

/** Between two rounds of pages, sends again the invoices that operators and the retry policy chose. */
export async function sendAgain(deps: ActivityDeps, input: SendAgainInput): Promise<Reopened> {
  const { batchId, actionId } = input;
  const fencingToken = await beginRound(deps, input);
  const results: RetryResult[] = [];
  for (const [index, request] of input.requests.entries())
    results.push(await retry(deps, { batchId, actionId: `${actionId}/update-${index + 1}`, request, fencingToken }));
  const { failedReasonCodes } = deps.settings.retry;
  if (input.automatic && failedReasonCodes.length > 0) {
    const result = await deps.ledger.retryInvoices({
      batchId,
      selection: { states: ['failed'], reasonCodes: failedReasonCodes },
      policy: { ...policyOf(deps, false), unattended: true },
      action: { actionId: `${actionId}/policy`, who: LOTE, why: 'retry.failedReasonCodes of the service profile' },
      fencingToken,
    });
    // Invoices whose generations are spent stay as they are.
    results.push({ ...result, refused: {} });
  }
  return reopened(deps, batchId, results);
}

async function claim(deps: ActivityDeps, run: Omit<ReopenBatch, 'takeOver'>): Promise<BatchRecord> {
  const first = await deps.ledger.reopenBatch({ ...run, takeOver: false });
  if (first.kind === 'reopened') return first.batch;
  if (first.kind === 'owned') {
    if (await deps.runs.isOpen(first.workflowId, first.runId, run.runId))
      throw batchRunning(run.batchId, first.workflowId);
    const taken = await deps.ledger.reopenBatch({ ...run, takeOver: true });
    if (taken.kind === 'reopened') return taken.batch;
  }
  throw new LoteError(
    'transition-refused',
    `Retrying invoices of batch ${run.batchId}: its file was refused or is still being read, so it has no invoices. Nothing was done. \`lote status ${run.batchId}\` says where it stands.`,
  );
}

/** Stops late writes of the previous round. Returns undefined if the run has no token to prove. */
async function beginRound({ ledger }: ActivityDeps, { batchId, fencingToken }: SendAgainInput): Promise<FencingToken> {
  if (fencingToken === undefined) return undefined;
  const { attempt } = Context.current().info;
  return (await ledger.beginRound({ batchId, fencingToken, attempt })).fencingToken;
}

/** The detail names the workflow, so that a command can send the update to it. */
function batchRunning(batchId: string, workflowId: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'batch-running',
    nonRetryable: true,
    message: `Retrying invoices of batch ${batchId}: it is running. Send the update retryInvoices to workflow ${workflowId} instead.`,
    details: [workflowId],
  });
}

async function retry(
  deps: ActivityDeps,
  { batchId, fencingToken, actionId, request }: BatchWriter & { actionId: string; request: RetryRequestInput },
): Promise<RetryResult> {
  const selection: RetrySelection = {
    ...((request.states ?? []).length > 0 && { states: request.states }),
    ...((request.rows ?? []).length > 0 && { rows: request.rows }),
  };
  const result = await deps.ledger.retryInvoices({
    batchId,
    selection,
    policy: policyOf(deps, request.acceptDuplicateRisk === true),
    action: { actionId, who: request.who ?? null, why: request.reason },
    fencingToken,
  });
  if (result.moved.release > 0) await deps.ledger.overruleTotals({ batchId, fencingToken }, 'retry');
  return result;
}

function policyOf(deps: ActivityDeps, acceptDuplicateRisk: boolean): RetryPolicy {
  const { maxGenerations, retentionMs, rejectionIsProof } = deps.settings.retry;
  return { maxGenerations, retentionMs, rejectionIsProof, acceptDuplicateRisk, now: deps.now() };
}

async function reopened(deps: ActivityDeps, batchId: string, results: readonly RetryResult[]): Promise<Reopened> {
  const record = await knownBatch(deps, batchId);
  const byMove = sumOf(results.map(({ moved }) => moved));
  const moved = Object.values(byMove).reduce((total, count) => total + count, 0);
  if (moved > 0) deps.log.info('invoices go again', { batchId, ...byMove });
  return { batch: await runningBatch(deps, record), moved, refused: sumOf(results.map(({ refused }) => refused)) };
}

async function knownBatch({ ledger }: ActivityDeps, batchId: string): Promise<BatchRecord> {
  const batch = await ledger.findBatch(batchId);
  if (batch !== null) return batch;
  throw new LoteError('batch-not-found', `The ledger no longer has batch ${batchId}. Drop its file again.`);
}

function sumOf(counts: readonly Readonly<Record<string, number | undefined>>[]): Readonly<Record<string, number>> {
  const total: Record<string, number> = {};
  for (const [name, count = 0] of counts.flatMap((one) => Object.entries(one)))
    total[name] = (total[name] ?? 0) + count;
  return total;
}

/** Releases what an earlier run of the file left: held invoices, to be sent for the first time, and unknown ones, to be repeated unchanged. */
export async function letGo(deps: ActivityDeps, batch: BatchWriter): Promise<void> {
  await deps.ledger.releaseHeld(batch.batchId, deps.now(), batch.fencingToken);
  await repeatUnknown(deps, batch);
}

/** After the retention window a repeat could make a second document, so only an operator decides. */
export async function repeatUnknown(deps: ActivityDeps, { batchId, fencingToken }: BatchWriter): Promise<void> {
  await deps.ledger.repeatUnknown(batchId, deps.latestNow() - deps.settings.retry.retentionMs, fencingToken);
}

/** Releases a held batch after an operator has confirmed its total (one of the `actions`). Returns the batch as it is to be sent now. */
export async function confirmTotal(
  deps: ActivityDeps,
  { batchId, fencingToken, actions }: BatchWork & { readonly actions: readonly NotedAction[] },
): Promise<RunningBatch> {
  await deps.ledger.confirmTotal({ batchId, fencingToken }, { now: deps.now(), actions });
  await letGo(deps, { batchId, fencingToken });
  const batch = await knownBatch(deps, batchId);
  await deps.ledger.recordStop(batch, null);
  return runningBatch(deps, batch);
}
