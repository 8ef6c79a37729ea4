import { LoteError } from '../../domain/errors.ts';
import type { QueuePoller } from './queue-pollers.ts';

/** A live worker takes a new task within milliseconds; a busy one polls again within this time. */
const PATIENCE_MS = 10_000;
const POLL_INTERVAL_MS = 500;

export interface WorkerWatch {
  readonly taskQueue: string;
  /** What the worker must keep. */
  readonly scope: string;
  readonly pollers: () => Promise<readonly QueuePoller[]>;
  readonly pause: (ms: number) => Promise<unknown>;
}

/**
 * Waits until a worker of this ledger and application is listed for the task queue. Listed is not alive: a killed one
 * stays listed for five minutes.
 * @throws LoteError `worker-missing` after 10 s without one.
 */
export async function requireListedWorker(watch: WorkerWatch): Promise<void> {
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_INTERVAL_MS) {
    if ((await ownPollers(watch)).length > 0) return;
    await watch.pause(POLL_INTERVAL_MS);
  }
  throw workerMissing(watch);
}

/**
 * Waits for a sign of life after work was handed out: the work was taken up (a worker answered for it), or a listed
 * worker polled again.
 * @throws LoteError `worker-missing` after 10 s without one.
 */
export async function requireLiveWorker(watch: WorkerWatch, takenUp: Promise<unknown>): Promise<void> {
  let taken = false;
  takenUp.then(
    () => (taken = true),
    () => undefined,
  );
  const first = new Map((await ownPollers(watch)).map(({ identity, lastPolledAt }) => [identity, lastPolledAt]));
  for (let waited = 0; waited < PATIENCE_MS; waited += POLL_INTERVAL_MS) {
    if (taken) return;
    const now = await ownPollers(watch);
    if (now.some(({ identity, lastPolledAt }) => lastPolledAt > (first.get(identity) ?? 0))) return;
    await watch.pause(POLL_INTERVAL_MS);
  }
  throw workerMissing(watch);
}

async function ownPollers({ pollers, scope }: WorkerWatch): Promise<readonly QueuePoller[]> {
  return (await pollers()).filter((poller) => poller.scope === scope);
}

function workerMissing({ taskQueue, scope }: WorkerWatch): LoteError {
  return new LoteError(
    'worker-missing',
    `Looking for a worker on task queue ${taskQueue}: one that keeps ${scope} (ledger/application) must be running, but none gave a sign of life for 10 s. Nothing was sent. ` +
      'Start one with `lote worker` on the same DATABASE_URL, TEMPORAL_ADDRESS, LOTE_TASK_QUEUE and LOTE_APPLICATION (or LOTE_APPLICATIONS_DIR).',
  );
}
