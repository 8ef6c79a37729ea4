import { randomUUID } from 'node:crypto';
import {
  ApplicationFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import type { RetryRequestInput } from '../../contract/messages.ts';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import type { RetryAnswer, RetryWish } from '../../console/console-options.ts';
import { answeredCall } from '../temporal/answered-call.ts';
import { answeredUpdate } from '../temporal/answered-update.ts';
import { requireOwnRun, type OwnPlace } from '../temporal/own-run.ts';
import { answerWithin } from '../temporal/answer-within.ts';
import { batchFailure } from '../temporal/batch-failure.ts';
import { updateRefusal } from '../temporal/update-refusal.ts';

/** A page of the console waits this long for the end of a retry, so that it can show why nothing was sent again. */
const PAGE_PATIENCE_MS = 4_000;

export interface RetryPlace extends OwnPlace {
  readonly ledgerId: string;
  /** Whose the batch is; null: there is one application. */
  readonly applicationOf: (batchId: string) => Promise<string | null>;
}

/** A run of its own for a finished batch; its id, and null when one runs already. */
export async function startRetry(
  { client, taskQueue, ledgerId, applicationOf }: RetryPlace,
  batchId: string,
  request: RetryRequestInput,
): Promise<string | null> {
  const application = await applicationOf(batchId);
  try {
    const { workflowId } = await client.workflow.start<typeof retryInvoices>('retryInvoices', {
      workflowId: retryWorkflowId(batchId),
      taskQueue,
      args: [{ batch: batchId, ledgerId, ...(application === null ? {} : { application }), ...request }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
    return workflowId;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return null;
    throw error;
  }
}

/** Id of the workflow that retries a closed batch. A batch has one, so that two retries cannot run at the same time. */
export function retryWorkflowId(batchId: string): string {
  return `${batchId}-retry`;
}

/** To the run that has the batch: it takes the invoices up when its pages have ended. @throws LoteError `usage` with what the run said, `worker-missing`, `ledger-foreign` */
export async function retryInRun(place: OwnPlace, workflowId: string, request: RetryRequestInput): Promise<void> {
  const attempted = 'Sending invoices again';
  const handle = place.client.workflow.getHandle(workflowId);
  try {
    await answeredUpdate(place.client, attempted, async () => {
      await requireOwnRun(place, workflowId, attempted);
      return handle.executeUpdate('retryInvoices', { args: [request], updateId: randomUUID() });
    });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw updateRefusal(attempted, error);
    throw error instanceof WorkflowNotFoundError ? runEnded(attempted, error) : error;
  }
}

function runEnded(attempted: string, cause: WorkflowNotFoundError): LoteError {
  return new LoteError(
    'transition-refused',
    `${attempted}: the run ${cause.workflowId} has ended in this moment, before it could take them up. Nothing was done: do the same again.`,
    { cause },
  );
}

/** The run that has the batch, when that is why a retry of its own was refused. */
export function runWithBatch(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const detail: unknown =
      cause instanceof ApplicationFailure && cause.type === 'batch-running' ? cause.details?.[0] : null;
    if (typeof detail === 'string') return detail;
  }
  return null;
}

/** The same as `lote retry`, for a page that does not wait for the end. `patienceMs`: see `answeredCall`. */
export function createConsoleRetry(place: RetryPlace, patienceMs?: number): (wish: RetryWish) => Promise<RetryAnswer> {
  return async ({ batchId, states, rows, reason, acceptDuplicateRisk, by }) => {
    const request: RetryRequestInput = {
      ...(states === undefined ? {} : { states }),
      ...(rows === undefined ? {} : { rows }),
      ...(acceptDuplicateRisk ? { acceptDuplicateRisk } : {}),
      ...{ reason, who: by },
    };
    const start = (): Promise<string | null> => startRetry(place, batchId, request);
    const own = await answeredCall(place.client, 'Sending invoices again', start, patienceMs);
    if (own === null) {
      await retryInRun(place, retryWorkflowId(batchId), request);
      return { how: 'joined' };
    }
    try {
      const run = place.client.workflow.getHandle<typeof retryInvoices>(own);
      const ended = await answerWithin(PAGE_PATIENCE_MS, run.result());
      if (ended === null) return { how: 'started' };
      return { how: 'ended', moved: ended.retried?.moved ?? 0, refused: ended.retried?.refused ?? {} };
    } catch (error) {
      const running = runWithBatch(error);
      if (running === null) throw batchFailure(error);
      await retryInRun(place, running, request);
      return { how: 'joined' };
    }
  };
}
