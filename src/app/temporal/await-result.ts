import { TerminatedFailure, WorkflowFailedError, WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';

const ASK_AGAIN_MS = 1_000;

export interface ResultWait {
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
