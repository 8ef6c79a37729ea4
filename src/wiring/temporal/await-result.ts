import { WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';

const ASK_AGAIN_MS = 1_000;

export interface ResultWait {
  readonly pause: (ms: number) => Promise<unknown>;
  /** Called for each look that Temporal did not answer. */
  readonly onAway: () => void;
}

/**
 * The result of a run, however long Temporal itself is away: the server that comes back has the run, and with it the answer.
 * @throws WorkflowFailedError, WorkflowNotFoundError: those are answers.
 */
export async function awaitResult<Result>(handle: { result(): Promise<Result> }, wait: ResultWait): Promise<Result> {
  for (;;) {
    try {
      return await handle.result();
    } catch (error) {
      if (error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError) throw error;
      wait.onAway();
      await wait.pause(ASK_AGAIN_MS);
    }
  }
}
