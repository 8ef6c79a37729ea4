import { randomUUID } from 'node:crypto';
import { ApplicationFailure, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { RetryRequestInput } from '../../domain/messages/messages.ts';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import type { RetryAnswer, RetryWish } from '../../console/console-options.ts';
import { answeredCall, answeredUpdate, answerWithin, batchFailure } from '../temporal/calls.ts';
import { requireOwnRun, type OwnPlace } from '../temporal/batch-starter.ts';

/** The console's page waits this long for a retry to end, so that it can show why nothing was sent again. */
const PAGE_PATIENCE_MS = 4_000;

interface RetryPlace extends OwnPlace {
  readonly ledgerId: string;
}

/** Starts a retry run for a finished batch. Returns its id, or null when one already runs. */
async function startRetry(
  { client, taskQueue, ledgerId }: RetryPlace,
  batchId: string,
  request: RetryRequestInput,
): Promise<string | null> {
  try {
    const { workflowId } = await client.workflow.start<typeof retryInvoices>('retryInvoices', {
      workflowId: retryWorkflowId(batchId),
      taskQueue,
      args: [{ batch: batchId, ledgerId, ...request }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
    return workflowId;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}

/** Workflow id of a closed batch's retry. A batch has one id, so that two retries cannot run at the same time. */
export function retryWorkflowId(batchId: string): string {
  return `${batchId}-retry`;
}

/**
 * Hands the retry to the batch's run, which starts it after its pages.
 * @throws LoteError `usage` (the run's message), `worker-missing`, `ledger-foreign`
 */
export async function retryInRun(place: OwnPlace, workflowId: string, request: RetryRequestInput): Promise<void> {
  const attempted = 'Sending invoices again';
  const handle = place.client.workflow.getHandle(workflowId);
  try {
    await answeredUpdate(place.client, attempted, async () => {
      await requireOwnRun(place, workflowId, attempted);
      return handle.executeUpdate('retryInvoices', { args: [request], updateId: randomUUID() });
    });
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new LoteError(
      'transition-refused',
      `${attempted}: the run ${error.workflowId} has ended in this moment, before it could take them up. Nothing was done: do the same again.`,
      { cause: error },
    );
  }
}

/** Returns the run that has the batch if the retry was refused for that reason, else null. */
function runWithBatch(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const detail: unknown =
      cause instanceof ApplicationFailure && cause.type === 'batch-running' ? cause.details?.[0] : null;
    if (typeof detail === 'string') return detail;
  }
  return null;
}

/**
 * Starts a retry run for a finished batch, or hands the retry to a run that has the batch. `follow` waits for the run
 * as long as its caller wants; `joined` is true if the run is not the retry's own. `patienceMs`: see `answeredCall`.
 */
export async function retryBatch<End>(
  { patienceMs, ...place }: RetryPlace & { readonly patienceMs?: number | undefined },
  batchId: string,
  request: RetryRequestInput,
  follow: (workflowId: string, joined: boolean) => Promise<End>,
): Promise<End> {
  const start = (): Promise<string | null> => startRetry(place, batchId, request);
  const own = await answeredCall(place.client, 'Sending invoices again', start, patienceMs);
  let running: string | null = retryWorkflowId(batchId);
  if (own !== null) {
    try {
      return await follow(own, false);
    } catch (error) {
      running = runWithBatch(error);
      if (running === null) throw error;
    }
  }
  await retryInRun(place, running, request);
  return follow(running, true);
}

/** Does the same as `lote retry`, for a page that waits only a short time for the end. */
export function createConsoleRetry(place: RetryPlace, patienceMs?: number): (wish: RetryWish) => Promise<RetryAnswer> {
  async function follow(workflowId: string, joined: boolean): Promise<RetryAnswer> {
    if (joined) return { how: 'joined' };
    const run = place.client.workflow.getHandle<typeof retryInvoices>(workflowId);
    const ended = await answerWithin(PAGE_PATIENCE_MS, run.result()).catch((error: unknown) => {
      throw batchFailure(error);
    });
    if (ended === null) return { how: 'started' };
    return { how: 'ended', moved: ended.retried?.moved ?? 0, refused: ended.retried?.refused ?? {} };
  }
  return async ({ batchId, states, rows, reason, acceptDuplicateRisk, by }) => {
    const given = givenOnly({ states, rows, acceptDuplicateRisk: acceptDuplicateRisk || undefined });
    return retryBatch({ ...place, patienceMs }, batchId, { ...given, reason, who: by }, follow);
  };
}
