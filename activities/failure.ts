import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { LoteError, type LoteErrorCode } from '../src/domain/errors.ts';

/** An unexpected error may be a glitch or a bug: eight tries take about two minutes, then the run reports it. */
const UNFORESEEN_ATTEMPTS = 8;

/**
 * Number of attempts of an activity by error code; an error whose code is not listed fails the activity at once.
 * Trouble that passes by itself, or after a person acts, is repeated without limit if waiting loses nothing.
 */
const ATTEMPTS: ReadonlyMap<LoteErrorCode, number> = new Map([
  ['ledger-unavailable', Infinity],
  // Another writer of the same rows was faster, and the next attempt finds what it wrote.
  ['ledger-race', Infinity],
  // Another writer has begun a newer report of the same batch.
  ['report-superseded', Infinity],
  ['service-unreachable', Infinity],
  ['temporal-unavailable', Infinity],
  // The mail server or the receiver of the message may take it later.
  ['message-unsent', Infinity],
  // The folder is mounted again, or another worker has it.
  ['folder-unusable', Infinity],
  // Another worker can do the work, or this one with corrected settings.
  ['application-foreign', Infinity],
  ['interlock', Infinity],
  // A lost claim never comes back, so the run must end and name its owner. The last attempt of a reset run claims anew.
  ['claim-lost', 5],
  // A night that waits for the input sends no message, so it must not wait unnoticed.
  ['input-unusable', UNFORESEEN_ATTEMPTS],
]);

/** Returns whether an activity with this error is repeated until it works. */
function passes(error: unknown): boolean {
  return error instanceof LoteError && ATTEMPTS.get(error.code) === Infinity;
}

/**
 * The only function in activities that builds an ApplicationFailure. `type` is the stable code; the cause stays out
 * because its text may hold data that history must not (a name, a tax number, an address of the database).
 */
function toFailure(error: unknown, attempt: number): ApplicationFailure {
  if (error instanceof ApplicationFailure) return error;
  if (error instanceof LoteError) {
    return ApplicationFailure.create({
      type: error.code,
      message: error.message,
      nonRetryable: attempt >= (ATTEMPTS.get(error.code) ?? 0),
    });
  }
  const kind = error instanceof Error ? error.name : typeof error;
  return ApplicationFailure.create({
    type: 'internal',
    message: `An activity failed with an unforeseen ${kind}; the worker's log has the details.`,
    nonRetryable: attempt >= UNFORESEEN_ATTEMPTS,
  });
}

/** Returns whether the error is the SDK's end of a cancelled activity. */
function isCancellation(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof Error && error.name === 'AbortError');
}

/** Counts attempts of this activity without a reported end: their worker was killed, or vanished. */
export function attemptsWithoutEnd(): number {
  return Number(Context.current().info.heartbeatDetails ?? 0);
}

/** A heartbeat distinguishes a slow service or disk from a dead worker. Its interval is well inside every heartbeat time-out (workflows/activities.ts). */
export const HEARTBEAT_MS = 5_000;

/**
 * Wraps an activity: it heartbeats while it runs, notifies its batch why it is repeated, and throws every error as an
 * ApplicationFailure after logging it once.
 */
export function guarded<I, O>(
  name: string,
  parts: {
    readonly log: { error(message: string, fields: Record<string, unknown>): void };
    readonly notifyWaiting: NotifyWaiting;
  },
  run: (input: I) => Promise<O>,
): (input: I) => Promise<O> {
  const { log, notifyWaiting } = parts;
  return async (input) => {
    const context = Context.current();
    const { attempt, workflowExecution } = context.info;
    // Temporal repeats an activity without notifying its workflow.
    const notify = async (reason: string | null): Promise<void> => {
      if (workflowExecution !== undefined) await notifyWaiting({ ...workflowExecution, activity: name, reason });
    };
    // The next attempt reads the last heartbeat: until this attempt sends its last one, it counts as an attempt without an end.
    const withoutEnd = attemptsWithoutEnd();
    const heartbeat = setInterval(() => context.heartbeat(withoutEnd + 1), HEARTBEAT_MS);
    try {
      const result = await run(input);
      if (attempt > FIRST_NOTIFIED_ATTEMPT) await notify(null);
      return result;
    } catch (error) {
      if (passes(error) && isNotified(attempt)) await notify(reasonOf(error));
      context.heartbeat(withoutEnd);
      if (context.cancellationSignal.aborted) throw isCancellation(error) ? error : toFailure(error, attempt);
      log.error('activity failed', { activity: name, attempt, err: error });
      throw toFailure(error, attempt);
    } finally {
      clearInterval(heartbeat);
    }
  };
}

/** Aborts when the attempt is over: it was cancelled, or its worker stops and another attempt continues. */
export function attemptOver(): AbortSignal {
  return Context.current().cancellationSignal;
}

/**
 * Leaves the rest of an activity to another attempt: work that a stopping worker did not do must not count as done.
 * @throws ApplicationFailure `worker-stops`, retryable
 */
export function requireRunningWorker(over: AbortSignal): void {
  if (over.aborted) throw workerStops();
}

/** Creates the failure of `requireRunningWorker`. */
export function workerStops(): ApplicationFailure {
  return ApplicationFailure.retryable('The worker stops; another attempt goes on.', 'worker-stops');
}

/** A notice to a batch that one of its activities is repeated because of trouble that passes by itself. */
export interface WaitingNotice {
  readonly workflowId: string;
  readonly runId: string;
  /** The activity's name, so that the end of an activity removes only its own notice. */
  readonly activity: string;
  /** Code and cause, without names or secrets; null after the trouble. */
  readonly reason: string | null;
}

/** Sends a notice to the run of a batch; never rejects. */
export type NotifyWaiting = (notice: WaitingNotice) => Promise<void>;

/** The first repetition comes after a second, so shorter trouble is not reported. */
const FIRST_NOTIFIED_ATTEMPT = 2;

/** True for the second, fourth, eighth … failed attempt. */
function isNotified(attempt: number): boolean {
  return attempt >= FIRST_NOTIFIED_ATTEMPT && Number.isInteger(Math.log2(attempt));
}

/** Leaves out the message's advice, because the operator's page gives its own. */
function reasonOf(error: unknown): string {
  if (!(error instanceof LoteError)) return 'internal';
  return `${error.code}: ${error.message.split('; ', 1)[0] ?? ''}`;
}
