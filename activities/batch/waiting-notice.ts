import { Context } from '@temporalio/activity';
import { LoteError } from '../../src/domain/errors.ts';
import { passes } from '../failure.ts';

/** What a batch is told while one of its activities is repeated for trouble that passes. */
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

/** The first repetition comes after a second: trouble that is shorter is not worth a word. */
const FIRST_NOTIFIED_ATTEMPT = 2;

/**
 * Temporal repeats an activity without a word to its workflow, so the activity itself tells the batch why it waits: at its second, fourth, eighth … failed
 * attempt, and when it has passed.
 */
export function notifyingWaits<I, O>(
  name: string,
  notify: NotifyWaiting,
  run: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  return async (input) => {
    const { attempt, workflowExecution } = Context.current().info;
    // Only what a workflow started has somebody to tell.
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
