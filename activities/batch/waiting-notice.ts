import { Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import { passes } from '../failure.ts';

/** Sent to a batch while one of its activities is repeated because of trouble that passes by itself. */
export interface WaitingNotice {
  readonly workflowId: string;
  readonly runId: string;
  /** Which activity it is, so that its end takes away only its own notice. */
  readonly activity: string;
  /** Code and cause, without names or secrets; null: it has passed. */
  readonly reason: string | null;
}

/** Sends a notice to the run of a batch; it never rejects. */
export type NotifyWaiting = (notice: WaitingNotice) => Promise<void>;

/** The first repetition comes after a second: shorter trouble is not reported. */
const FIRST_NOTIFIED_ATTEMPT = 2;

/**
 * Temporal repeats an activity without notifying its workflow. The activity itself therefore notifies the batch why it
 * waits: at its second, fourth, eighth … failed attempt, and when the trouble has passed.
 */
export function notifyingWaits<I, O>(
  name: string,
  notify: NotifyWaiting,
  run: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  return async (input) => {
    const { attempt, workflowExecution } = Context.current().info;
    // Only an activity of a workflow has a run to notify.
    if (workflowExecution === undefined) return run(input);
    const scope = { ...workflowExecution, activity: name };
    try {
      const result = await run(input);
      if (attempt > FIRST_NOTIFIED_ATTEMPT) await notify({ ...scope, reason: null });
      return result;
    } catch (error) {
      if (passes(error) && isNotified(attempt)) await notify({ ...scope, reason: reasonOf(error) });
      throw error;
    }
  };
}

function isNotified(attempt: number): boolean {
  return attempt >= FIRST_NOTIFIED_ATTEMPT && Number.isInteger(Math.log2(attempt));
}

/** The message up to what is done about it: the operator's page says that itself. */
function reasonOf(error: unknown): string {
  if (!(error instanceof LoteError)) return 'internal';
  return `${error.code}: ${error.message.split('; ', 1)[0] ?? ''}`;
}
