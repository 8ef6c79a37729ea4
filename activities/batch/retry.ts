import { ApplicationFailure, Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import type { BatchRecord, FencingToken } from '../../src/domain/ports/ledger/batch-record.ts';
import type { ReopenBatch, RetryResult, RetrySelection } from '../../src/domain/ports/ledger/operating-ledger.ts';
import type { RetryPolicy } from '../../src/domain/retry-decision.ts';
import type { RetryRequestInput } from '../../src/contract/messages.ts';
import type { ActivityDeps } from '../deps.ts';
import { runningBatch, type RunningBatch } from './running-batch.ts';
import { temporalOfClaim } from './temporal-of-claim.ts';

export interface ReopenInput {
  readonly ledgerId?: string | undefined;
  readonly batchId: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly request: RetryRequestInput;
}

export interface SendAgainInput {
  readonly ledgerId: string;
  readonly batchId: string;
  readonly fencingToken?: number | undefined;
  /** Names the audit lines: a step that is repeated writes each of them once. */
  readonly actionId: string;
  readonly requests: readonly RetryRequestInput[];
  /** The retry policy of the service profile may add failed invoices of its own. */
  readonly automatic: boolean;
}

/** What goes again: the batch as it runs now, with the pages that have something to send. */
export interface Reopened {
  readonly batch: RunningBatch;
  readonly moved: number;
  readonly refused: Readonly<Record<string, number>>;
}

const LOTE = 'lote';

/** Claims a closed batch for this run and lets the selected invoices go again. */
export async function reopenBatch(deps: ActivityDeps, input: ReopenInput): Promise<Reopened> {
  const { batchId, workflowId, runId, request } = input;
  const { attempt } = Context.current().info;
  const temporalId = await temporalOfClaim(deps);
  const { fencingToken } = await claim(deps, { batchId, workflowId, runId, temporalId, attempt });
  const result = await retry(deps, { batchId, actionId: `${workflowId}/${runId}/start`, request, fencingToken });
  return reopened(deps, batchId, result);
}

/** Between two rounds of pages: what operators asked for meanwhile, and what the retry policy says of the failed. */
export async function sendAgain(deps: ActivityDeps, input: SendAgainInput): Promise<Reopened> {
  const { batchId, actionId } = input;
  const fencingToken = await beginRound(deps, input);
  let total: RetryResult = NOTHING;
  for (const [index, request] of input.requests.entries()) {
    total = sum(
      total,
      await retry(deps, { batchId, actionId: `${actionId}/update-${index + 1}`, request, fencingToken }),
    );
  }
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
    total = sum(total, { ...result, refused: {} });
  }
  return reopened(deps, batchId, total);
}

/** What somebody else had paused is not paused any more: its run has ended, and the pause with it. */
async function claim(deps: ActivityDeps, run: Omit<ReopenBatch, 'takeOver'>): Promise<BatchRecord> {
  const batch = await reopenedBy(deps, run);
  if (batch.state === 'paused') await deps.ledger.setBatchState(run.batchId, 'running', deps.now(), batch.fencingToken);
  return batch;
}

async function reopenedBy(deps: ActivityDeps, run: Omit<ReopenBatch, 'takeOver'>): Promise<BatchRecord> {
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

/**
 * What the round before left undone writes no more from here on. Undefined: an earlier version of Lote started the run.
 */
async function beginRound(
  { ledger }: ActivityDeps,
  { batchId, fencingToken, requests }: SendAgainInput,
): Promise<FencingToken> {
  if (fencingToken === undefined) return undefined;
  const { attempt } = Context.current().info;
  return (await ledger.beginRound({ batchId, fencingToken, attempt, isOrdered: requests.length > 0 })).fencingToken;
}

/** The detail names the run, so that a command can send the update there itself. */
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
  one: {
    readonly batchId: string;
    readonly actionId: string;
    readonly request: RetryRequestInput;
    readonly fencingToken: FencingToken;
  },
): Promise<RetryResult> {
  const { request } = one;
  const selection: RetrySelection = {
    ...(request.states === undefined || request.states.length === 0 ? {} : { states: request.states }),
    ...(request.rows === undefined || request.rows.length === 0 ? {} : { rows: request.rows }),
  };
  const { batchId, fencingToken } = one;
  const result = await deps.ledger.retryInvoices({
    batchId,
    selection,
    policy: policyOf(deps, request.acceptDuplicateRisk === true),
    action: { actionId: one.actionId, who: request.who ?? null, why: request.reason },
    fencingToken,
  });
  if (result.moved.release > 0) await deps.ledger.overruleTotals({ batchId, fencingToken }, 'retry');
  return result;
}

function policyOf(deps: ActivityDeps, acceptDuplicateRisk: boolean): RetryPolicy {
  const { maxGenerations, retentionMs, rejectionIsProof } = deps.settings.retry;
  return { maxGenerations, retentionMs, rejectionIsProof, acceptDuplicateRisk, now: deps.now() };
}

async function reopened(deps: ActivityDeps, batchId: string, result: RetryResult): Promise<Reopened> {
  const record = await deps.ledger.findBatch(batchId);
  if (record === null)
    throw new LoteError(
      'batch-not-found',
      `Retrying invoices: the ledger knows no batch ${batchId}. \`lote status\` lists the batches it knows.`,
    );
  const moved = Object.values(result.moved).reduce((total, count) => total + count, 0);
  if (moved > 0) deps.log.info('invoices go again', { batchId, ...result.moved });
  return { batch: await runningBatch(deps, record), moved, refused: { ...result.refused } };
}

const NOTHING: RetryResult = { moved: { release: 0, regenerate: 0, repeat: 0, abandon: 0 }, refused: {}, pages: [] };

function sum(a: RetryResult, b: RetryResult): RetryResult {
  return {
    moved: {
      release: a.moved.release + b.moved.release,
      regenerate: a.moved.regenerate + b.moved.regenerate,
      repeat: a.moved.repeat + b.moved.repeat,
      abandon: a.moved.abandon + b.moved.abandon,
    },
    refused: sumOfRefused(a.refused, b.refused),
    pages: [...a.pages, ...b.pages],
  };
}

function sumOfRefused(a: RetryResult['refused'], b: RetryResult['refused']): RetryResult['refused'] {
  const total: Record<string, number> = { ...a };
  for (const [refusal, invoices] of Object.entries(b)) total[refusal] = (total[refusal] ?? 0) + invoices;
  return total;
}
