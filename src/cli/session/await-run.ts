import { setTimeout as sleep } from 'node:timers/promises';
import { awaitResult } from '../../wiring/temporal/await-result.ts';
import { batchFailure } from '../../wiring/temporal/batch-failure.ts';

/** What a command waits for without a bar of progress. */
export interface AwaitedRun {
  readonly workflowId: string;
  /** Rejects when waiting must end. */
  readonly ended: Promise<never>;
  readonly notify: (line: string) => void;
}

/** The result of a run, also over an outage of Temporal, which is said once. @throws LoteError as the run ended */
export async function awaitRun<Result>(
  handle: { result(): Promise<Result> },
  { workflowId, ended, notify }: AwaitedRun,
): Promise<Result> {
  let isSaid = false;
  const onAway = (): void => {
    if (!isSaid) notify(`${workflowId}: waits for Temporal, which does not answer`);
    isSaid = true;
  };
  const result = awaitResult(handle, { pause: (ms) => sleep(ms, undefined, { ref: false }), onAway });
  try {
    return await Promise.race([result, ended]);
  } catch (error) {
    throw batchFailure(error);
  } finally {
    // What ends the wait closes the connection, too: that is no outage.
    isSaid = true;
  }
}
