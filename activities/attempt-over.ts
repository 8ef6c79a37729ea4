import { ApplicationFailure, Context } from '@temporalio/activity';

const WORKER_STOPS = 'worker-stops';
/** The SDK's word for it. */
const SHUTDOWN = 'WORKER_SHUTDOWN';
/** Less than a stopping worker has in all. */
const STAYS_MS = 30_000;

/**
 * Aborted when the attempt of the activity is over: it was cancelled, or its worker stops. What it has not come to is another attempt's, at once on
 * another worker.
 */
export function attemptOver(): AbortSignal {
  return Context.current().cancellationSignal;
}

/** The same for work that another attempt would begin from the start: where the worker stops, it may still come to its end. */
export function attemptOverSoon(): AbortSignal {
  const over = attemptOver();
  const soon = new AbortController();
  const begin = (): void => {
    if (!isShutdown(over.reason)) soon.abort(over.reason);
    else setTimeout(() => soon.abort(over.reason), STAYS_MS).unref();
  };
  if (over.aborted) begin();
  else over.addEventListener('abort', begin, { once: true });
  return soon.signal;
}

function isShutdown(reason: unknown): boolean {
  return reason instanceof Error && reason.message === SHUTDOWN;
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
  return ApplicationFailure.retryable('The worker stops; another attempt goes on.', WORKER_STOPS);
}
