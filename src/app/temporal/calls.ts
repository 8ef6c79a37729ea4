import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApplicationFailure,
  isGrpcServiceError,
  ScheduleNotFoundError,
  TerminatedFailure,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { LoteError, type LoteErrorCode } from '../../domain/errors.ts';
import { waitingFor } from '../../platform/waiting-for.ts';

/** The gRPC codes that Lote tells apart: https://grpc.io/docs/guides/status-codes/. */
export const GRPC_STATUS = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Returns the server's error among the causes of `error`, with gRPC's code and a message such as `4 DEADLINE_EXCEEDED: …`; null if there is none. */
export function temporalRefusal(error: unknown): { readonly code: number; readonly message: string } | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isGrpcServiceError(cause)) return cause;
  return null;
}

/** Returns a command's error for a call that the server did not do, or null for an error of another kind. */
export function temporalFailure(error: unknown): LoteError | null {
  const refusal = temporalRefusal(error);
  if (refusal === null) return null;
  return new LoteError(
    'temporal-unavailable',
    `Asking the Temporal server: it must do what it is asked, but it answered ${JSON.stringify(refusal.message)}. ` +
      'It may be done all the same: look at the Temporal UI, or with `lote status`, before you repeat the command.',
    { cause: error },
  );
}

/** Awaits `asked`; returns null if the server knows no such run or schedule. */
export function unlessUnknown<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  return asked.catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError || error instanceof ScheduleNotFoundError) return null;
    throw error;
  });
}

/** Returns the answer, or null after `patienceMs`; a later result is ignored. */
export function answerWithin<Answer>(patienceMs: number, answer: Promise<Answer>): Promise<Answer | null> {
  answer.catch(() => undefined);
  return Promise.race([answer, sleep(patienceMs, null, { ref: false })]);
}

/** Longer than a batch pauses after its worker was killed. */
const PATIENCE_MS = 30_000;
/** A server that knows the deadline may cancel a moment before the client does. */
const UNANSWERED: readonly (number | undefined)[] = [
  GRPC_STATUS.cancelled,
  GRPC_STATUS.deadlineExceeded,
  GRPC_STATUS.unavailable,
];

/**
 * Calls the Temporal server, or sends an update to a running workflow, while a person waits. The error message begins with `attempted`.
 * @throws LoteError `temporal-unavailable` without an answer of the server for 30 s (`patienceMs`), `worker-missing` where no worker has
 * answered an update in that time, `usage` with the message of the workflow's validator; else the error of `call`
 */
export async function answeredCall<Answer>(
  client: Client,
  attempted: string,
  call: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  try {
    return await waitingFor('Temporal, or for a worker there', () =>
      client.withDeadline(Date.now() + patienceMs, call),
    );
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      const said = error.cause instanceof Error ? error.cause.message : 'no reason was given';
      throw new LoteError('usage', `${attempted} was refused: ${said}`, { cause: error });
    }
    // An update that timed out may have reached the server, which then waits for a worker.
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
      throw new LoteError(
        'worker-missing',
        `${attempted}: a worker must take it, and none has answered for ${patienceMs / 1_000} s. It may be done as soon as one does: start a worker, and look at the batch before you repeat it.`,
        { cause: error },
      );
    if (!UNANSWERED.includes(temporalRefusal(error)?.code)) throw error;
    throw new LoteError(
      'temporal-unavailable',
      `${attempted}: the Temporal server must answer, and it has not. It may be done as soon as the server is back: look at the batch before you repeat it.`,
      { cause: error },
    );
  }
}

/** Returns a failed run's error in Lote's own words, because its wrapping failures do not help an operator. */
export function batchFailure(error: unknown): unknown {
  if (error instanceof WorkflowNotFoundError)
    return new LoteError(
      'temporal-unavailable',
      `Waiting for the run ${error.workflowId}: the Temporal server must know it, and does not; it was deleted, or the server lost its data. The ledger has what was sent: \`lote status\` shows it, and the same command goes on with the rest.`,
      { cause: error },
    );
  if (!(error instanceof WorkflowFailedError)) return error;
  for (let cause: unknown = error.cause; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ApplicationFailure && cause.type !== null && cause.type !== undefined)
      return new LoteError(cause.type as LoteErrorCode, cause.message, { cause: error });
  }
  const said = error.cause?.message ?? error.message;
  return new LoteError('internal', `The run ended without a result: ${said}`, { cause: error });
}

const ASK_AGAIN_MS = 1_000;

/** A run whose result a caller awaits. */
export type AwaitedHandle<Result> = Pick<WorkflowHandle, 'workflowId' | 'client'> & { result(): Promise<Result> };

/**
 * Awaits the result of a run, also across an outage of Temporal of any length and a reset in the Temporal UI. Calls
 * `onAway` for each try that Temporal did not answer.
 * @throws WorkflowFailedError, WorkflowNotFoundError: these are answers.
 */
export async function awaitResult<Result>(
  handle: AwaitedHandle<Result>,
  onAway: () => void = () => undefined,
): Promise<Result> {
  for (;;) {
    try {
      return await resultOf(handle);
    } catch (error) {
      if (error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError) throw error;
      onAway();
      await sleep(ASK_AGAIN_MS, undefined, { ref: false });
    }
  }
}

/** A reset terminates the run, and its workflow goes on in a new run. */
async function resultOf<Result>(handle: AwaitedHandle<Result>): Promise<Result> {
  try {
    return await handle.result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError && error.cause instanceof TerminatedFailure)) throw error;
    const latest = handle.client.getHandle(handle.workflowId);
    const { runId, status } = await latest.describe();
    if (status.name === 'TERMINATED') throw error;
    return resultOf<Result>(handle.client.getHandle(handle.workflowId, runId));
  }
}
