import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { LoteError, type LoteErrorCode } from '../src/domain/errors.ts';

/** An unexpected error may be a glitch or a bug: eight tries are about two minutes, then the run says so. */
const UNFORESEEN_ATTEMPTS = 8;

/**
 * How often an activity is tried that fails with a code; codes that are not listed fail it at once. Trouble that passes by itself or after a person acts,
 * while nothing is lost by waiting, is repeated for as long as it takes.
 */
const ATTEMPTS: ReadonlyMap<LoteErrorCode, number> = new Map([
  ['ledger-unavailable', Infinity],
  // Another writer of the same rows was faster: the next attempt finds what it wrote.
  ['ledger-race', Infinity],
  // Another writer has begun a newer report of the same batch.
  ['report-superseded', Infinity],
  ['service-unreachable', Infinity],
  ['temporal-unavailable', Infinity],
  // The mail server or the receiver of the message may take it later.
  ['message-unsent', Infinity],
  // The mount comes back, or another worker has it.
  ['folder-unusable', Infinity],
  // Another worker, or this one with its settings put right, can do it.
  ['application-foreign', Infinity],
  ['interlock', Infinity],
  // A claim never comes back, so the run must end and name the run that has it. The latest attempt of a run that was reset claims anew meanwhile.
  ['claim-lost', 5],
  // A night that waits for it sends no message, so that it must not wait unnoticed.
  ['input-unusable', UNFORESEEN_ATTEMPTS],
]);

/** Whether an activity that fails so is repeated until it works. */
function passes(error: unknown): boolean {
  return error instanceof LoteError && ATTEMPTS.get(error.code) === Infinity;
}

/**
 * The only place that builds an ApplicationFailure in activities: `type` is the stable code, the cause stays out
 * because its text may hold what history must not (a name, a tax number, an address of the database).
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

/** The end of an activity that was cancelled, as the SDK knows it. */
function isCancellation(error: unknown): boolean {
  return error instanceof CancelledFailure || (error instanceof Error && error.name === 'AbortError');
}

/** Attempts of this activity that ended without a word: their worker was killed, or vanished. */
export function attemptsWithoutEnd(): number {
  return Number(Context.current().info.heartbeatDetails ?? 0);
}

/** Tells a slow service or disk from a dead worker: well inside every heartbeat time-out (workflows/activity-options.ts). */
export const HEARTBEAT_MS = 5_000;

/**
 * Wraps an activity so that it heartbeats while it runs, notifies its batch why it is repeated, and whatever it throws
 * leaves as an ApplicationFailure and is logged once, here.
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
    // The next attempt reads the last heartbeat: this one counts as without an end until it has one.
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

/** Aborted when the attempt of the activity is over: it was cancelled, or its worker stops, and another attempt goes on. */
export function attemptOver(): AbortSignal {
  return Context.current().cancellationSignal;
}

/**
 * Leaves the rest of an activity to another attempt: what a stopping worker did not come to must not pass for done.
 * @throws ApplicationFailure `worker-stops`, retryable
 */
export function requireRunningWorker(over: AbortSignal): void {
  if (over.aborted) throw workerStops();
}

/** See requireRunningWorker. */
export function workerStops(): ApplicationFailure {
  return ApplicationFailure.retryable('The worker stops; another attempt goes on.', 'worker-stops');
}

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

/** The second, fourth, eighth … failed attempt. */
function isNotified(attempt: number): boolean {
  return attempt >= FIRST_NOTIFIED_ATTEMPT && Number.isInteger(Math.log2(attempt));
}

/** The message up to what is done about it: the operator's page says that itself. */
function reasonOf(error: unknown): string {
  if (!(error instanceof LoteError)) return 'internal';
  return `${error.code}: ${error.message.split('; ', 1)[0] ?? ''}`;
}
