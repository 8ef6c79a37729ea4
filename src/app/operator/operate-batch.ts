import {
  ApplicationFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type Client,
} from '@temporalio/client';
import type { retryInvoices } from '../../../workflows/retry-invoices.ts';
import type { BatchWatch, Operation, RetryAnswer, RetryWish } from '../../console/console-options.ts';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import type { BatchProgress, RetryRequestInput } from '../../domain/messages/messages.ts';
import { requireOwnRun, type OwnPlace } from '../temporal/batch-starter.ts';
import { answeredCall, answerWithin, batchFailure } from '../temporal/calls.ts';

interface RunUpdate {
  readonly name: string;
  readonly input: object;
  /** Begins the error. */
  readonly attempted: string;
  /** Code and words of the error for a run that has ended. */
  readonly ifEnded: readonly [code: LoteErrorCode, words: string];
  /** See `answeredCall`. */
  readonly patienceMs?: number | undefined;
}

/** Sends an update to a run of this installation, as the Temporal UI would. @throws LoteError as `requireOwnRun` and `answeredCall`; `ifEnded` */
async function updateRun<Answer>(place: OwnPlace, workflowId: string, update: RunUpdate): Promise<Answer> {
  const { name, input, attempted, ifEnded, patienceMs } = update;
  const send = async (): Promise<Answer> => {
    await requireOwnRun(place, workflowId, attempted);
    return place.client.workflow.getHandle(workflowId).executeUpdate<Answer, [object]>(name, { args: [input] });
  };
  try {
    return await answeredCall(place.client, attempted, send, patienceMs);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new LoteError(ifEnded[0], `${attempted}: ${ifEnded[1]}`, { cause: error });
  }
}

/**
 * Returns a function that sends an operator's order to a batch's run; the answer is a sentence. `by` is the name for the audit, if any.
 * @throws LoteError `batch-not-found`, `usage`, `worker-missing`, `ledger-foreign`
 */
export function createBatchOperator(place: OwnPlace, patienceMs?: number) {
  return (workflowId: string, { kind, ...input }: Operation, by?: string): Promise<string> =>
    updateRun(place, workflowId, {
      ...{ name: kind, input: { ...input, ...givenOnly({ who: by }) }, patienceMs },
      attempted: `Operating a batch (${kind})`,
      ifEnded: [
        'batch-not-found',
        'its workflow must be running, found it ended. Start the file again to go on with what is left of it.',
      ],
    });
}

/** A page must not wait for a worker that has gone. */
const WATCH_PATIENCE_MS = 1_000;

/** Queries the progress of a running batch; null when no workflow runs or no worker answers. */
export function createBatchWatch(client: Client): (workflowId: string) => Promise<BatchWatch | null> {
  return (workflowId) => {
    const asked = client.workflow.getHandle(workflowId).query<BatchProgress>('progress');
    return answerWithin(
      WATCH_PATIENCE_MS,
      asked.catch(() => null),
    );
  };
}

interface RetryPlace extends OwnPlace {
  readonly ledgerId: string;
}

/** Workflow id of a closed batch's retry. A batch has one id, so that two retries cannot run at the same time. */
export function retryWorkflowId(batchId: string): string {
  return `${batchId}-retry`;
}

/** Starts a retry run for a finished batch. Returns false when one already runs. */
async function startRetry(
  { client, taskQueue, ledgerId }: RetryPlace,
  batchId: string,
  request: RetryRequestInput,
): Promise<boolean> {
  try {
    await client.workflow.start<typeof retryInvoices>('retryInvoices', {
      workflowId: retryWorkflowId(batchId),
      taskQueue,
      args: [{ batch: batchId, ledgerId, ...request }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'FAIL',
    });
    return true;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
    throw error;
  }
}

const SENDING_AGAIN = 'Sending invoices again';

/**
 * Hands the retry to the batch's run, which starts it after its pages.
 * @throws LoteError `usage` (the run's message), `worker-missing`, `ledger-foreign`, `transition-refused` when the run has ended
 */
export function retryInRun(place: OwnPlace, workflowId: string, request: RetryRequestInput): Promise<void> {
  return updateRun(place, workflowId, {
    ...{ name: 'retryInvoices', input: request, attempted: SENDING_AGAIN },
    ifEnded: [
      'transition-refused',
      `the run ${workflowId} has ended in this moment, before it could take them up. Nothing was done: do the same again.`,
    ],
  });
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
  const own = retryWorkflowId(batchId);
  let running: string | null = own;
  if (await answeredCall(place.client, SENDING_AGAIN, () => startRetry(place, batchId, request), patienceMs)) {
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

/** The console's page waits this long for a retry to end, so that it can show why nothing was sent again. */
const PAGE_PATIENCE_MS = 4_000;

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
  return ({ batchId, states, rows, reason, acceptDuplicateRisk, by }) => {
    const given = givenOnly({ states, rows, acceptDuplicateRisk: acceptDuplicateRisk || undefined });
    return retryBatch({ ...place, patienceMs }, batchId, { ...given, reason, who: by }, follow);
  };
}
