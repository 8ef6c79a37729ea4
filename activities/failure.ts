import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';
import { LoteError, type LoteErrorCode } from '../src/domain/errors.ts';

/**
 * Trouble that passes by itself or by somebody's hand, while nothing is lost by waiting: Temporal repeats the activity
 * for as long as it takes.
 */
const PASSING: ReadonlySet<LoteErrorCode> = new Set([
  'ledger-unavailable',
  // Another writer of the same rows was faster: the next attempt finds what it wrote.
  'ledger-race',
  // Another writer has begun a newer report of the same batch.
  'report-superseded',
  'service-unreachable',
  'temporal-unavailable',
  // The mail server or the receiver of the message may take it later.
  'message-unsent',
  // The mount comes back, or another worker has it.
  'folder-unusable',
  // Another worker, or this one with its settings put right, can do it.
  'application-foreign',
  'interlock',
]);

/** May pass by itself, but not unnoticed: a night that waits for it sends no message. */
const REPEATED_A_FEW_TIMES: ReadonlySet<LoteErrorCode> = new Set(['input-unusable']);

/**
 * Another run has the batch, and a claim never comes back: this run must end, and say which one it is. The latest attempt after all, of a step or of a run
 * that was reset, claims anew with its next attempts.
 */
const LOST_CLAIM_ATTEMPTS = 5;

/** An error nobody foresaw may be a glitch or a bug: eight tries are about two minutes, then the run says so. */
const UNFORESEEN_ATTEMPTS = 8;

function mayPass({ code }: LoteError, attempt: number): boolean {
  if (PASSING.has(code)) return true;
  if (code === 'claim-lost') return attempt < LOST_CLAIM_ATTEMPTS;
  return REPEATED_A_FEW_TIMES.has(code) && attempt < UNFORESEEN_ATTEMPTS;
}

/** Whether an activity that fails so is repeated until it works. */
export function passes(error: unknown): boolean {
  return error instanceof LoteError && PASSING.has(error.code);
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
      nonRetryable: !mayPass(error, attempt),
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

type AnyActivity<I, O> = (input: I) => Promise<O>;

/**
 * Tells a slow service or disk from a dead worker: well inside every heartbeat time-out
 * (workflows/activity-options.ts).
 */
export const HEARTBEAT_MS = 5_000;

/** A POST that is on the wire is answered by then, and a stopping worker gives its activities 45 s. */
const OVERDUE_MS = 40_000;

interface ErrorLog {
  error(message: string, fields: Record<string, unknown>): void;
}

/**
 * Names an activity that goes on long after it was cancelled: a stopping worker waits for it, and nothing else would say
 * for what. Watches until the returned function is called.
 */
function watchCancelled(name: string, log: ErrorLog): () => void {
  const { cancellationSignal } = Context.current();
  let timer: NodeJS.Timeout | undefined;
  function begin(): void {
    timer = setTimeout(
      () => log.error('an activity goes on although it was cancelled', { activity: name }),
      OVERDUE_MS,
    );
    timer.unref();
  }
  cancellationSignal.addEventListener('abort', begin, { once: true });
  return () => {
    clearTimeout(timer);
    cancellationSignal.removeEventListener('abort', begin);
  };
}

/**
 * Wraps an activity so that it heartbeats while it runs, and whatever it throws leaves as an ApplicationFailure and is
 * logged once, here.
 */
export function guarded<I, O>(name: string, log: ErrorLog, run: AnyActivity<I, O>): AnyActivity<I, O> {
  return async (input) => {
    const context = Context.current();
    const heartbeat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    const unwatch = watchCancelled(name, log);
    try {
      return await run(input);
    } catch (error) {
      if (context.cancellationSignal.aborted)
        throw isCancellation(error) ? error : toFailure(error, context.info.attempt);
      log.error('activity failed', { activity: name, attempt: context.info.attempt, err: error });
      throw toFailure(error, context.info.attempt);
    } finally {
      clearInterval(heartbeat);
      unwatch();
    }
  };
}
