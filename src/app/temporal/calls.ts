import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApplicationFailure,
  isGrpcServiceError,
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

/** The codes of gRPC that Lote tells apart: https://grpc.io/docs/guides/status-codes/. */
export const GRPC_STATUS = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** What the Temporal server answered to a call that it did not do: gRPC's code, and code and words as `4 DEADLINE_EXCEEDED: …`. */
interface TemporalRefusal {
  readonly code: number;
  readonly message: string;
}

/** The server's answer among the causes of an error; null: the server gave none. */
export function temporalRefusal(error: unknown): TemporalRefusal | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isGrpcServiceError(cause)) return cause;
  return null;
}

/** What a command says where the server did not do what it was asked; null: the error is of another kind. */
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

/** The answer, or null when it takes longer than `patienceMs`: then its result is ignored. */
export function answerWithin<Answer>(patienceMs: number, answer: Promise<Answer>): Promise<Answer | null> {
  answer.catch(() => undefined);
  return Promise.race([answer, sleep(patienceMs, null, { ref: false })]);
}

/** Longer than a batch stands still after its worker was killed. */
const PATIENCE_MS = 30_000;
/** A server that knows the deadline may cancel a moment before this side gives up. */
const UNANSWERED: readonly (number | undefined)[] = [
  GRPC_STATUS.cancelled,
  GRPC_STATUS.deadlineExceeded,
  GRPC_STATUS.unavailable,
];

/**
 * What the Temporal server answers while a person waits at a page. `attempted` begins the sentence of the error.
 * @throws LoteError `temporal-unavailable` where it has not answered for 30 s (`patienceMs`); else what `call` throws
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
    // An update that timed out may have reached its server, which waits for a worker.
    const isUpdate = error instanceof WorkflowUpdateRPCTimeoutOrCancelledError;
    if (isUpdate || !UNANSWERED.includes(temporalRefusal(error)?.code)) throw error;
    throw new LoteError(
      'temporal-unavailable',
      `${attempted}: the Temporal server must answer, and it has not. It may be done as soon as the server is back: look at the batch before you repeat it.`,
      { cause: error },
    );
  }
}

/**
 * What an update of a running workflow answers. `attempted` begins the sentence of the error.
 * @throws LoteError `worker-missing` where no worker has answered for 30 s (`patienceMs`), `temporal-unavailable` where
 * the server cannot be reached, `usage` with what the workflow's validator said; else what `update` throws
 */
export async function answeredUpdate<Answer>(
  client: Client,
  attempted: string,
  update: () => Promise<Answer>,
  patienceMs = PATIENCE_MS,
): Promise<Answer> {
  try {
    return await answeredCall(client, attempted, update, patienceMs);
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      const said = error.cause instanceof Error ? error.cause.message : 'no reason was given';
      throw new LoteError('usage', `${attempted} was refused: ${said}`, { cause: error });
    }
    if (!(error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)) throw error;
    throw new LoteError(
      'worker-missing',
      `${attempted}: a worker must take it, and none has answered for ${patienceMs / 1_000} s. It may be done as soon as one does: start a worker, and look at the batch before you repeat it.`,
      { cause: error },
    );
  }
}

/** The error a failed run ended with, in Lote's own words: the failures it is wrapped in say nothing to an operator. */
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

interface ResultWait {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Called for each look that Temporal did not answer. */
  readonly onAway: () => void;
}

/** A run whose result is waited for. */
export type AwaitedHandle<Result> = Pick<WorkflowHandle, 'workflowId' | 'client'> & { result(): Promise<Result> };

/**
 * The result of a run, also when Temporal is away for any time, or when the run is reset in the Temporal UI.
 * @throws WorkflowFailedError, WorkflowNotFoundError: those are answers.
 */
export async function awaitResult<Result>(handle: AwaitedHandle<Result>, wait: ResultWait): Promise<Result> {
  for (;;) {
    try {
      return await resultOf(handle);
    } catch (error) {
      if (error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError) throw error;
      wait.onAway();
      await wait.pause(ASK_AGAIN_MS);
    }
  }
}

/** A reset terminates the run, and its workflow goes on in another run. */
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
