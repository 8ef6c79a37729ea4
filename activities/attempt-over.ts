import { ApplicationFailure, Context } from '@temporalio/activity';

const WORKER_STOPS = 'worker-stops';

/**
 * Aborted when the attempt of the activity is over: it was cancelled, or its worker stops. What it has not come to is another attempt's, at once on
 * another worker. Temporal tells a worker's activities of its stop only after the time that they have to end.
 */
export function attemptOver({ stopping }: { readonly stopping: AbortSignal }): AbortSignal {
  return AbortSignal.any([Context.current().cancellationSignal, stopping]);
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

/** Whether the error says so. */
export function isWorkerStop(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === WORKER_STOPS;
}
