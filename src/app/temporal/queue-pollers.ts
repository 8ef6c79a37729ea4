import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Notify } from '../../platform/files.ts';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import { answerWithin } from './calls.ts';

/** TASK_QUEUE_TYPE_WORKFLOW: every process with a worker polls the workflow queue. */
const WORKFLOWS = 1;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** A live worker polls at least once a minute. */
const POLLED_WITHIN_MS = 90_000;

/** A worker that polled a task queue. The server forgets it about five minutes after its last poll. */
export interface QueuePoller {
  /** Worker scope, see `workerScope`; null for a worker that is not Lote's. */
  readonly scope: string | null;
  readonly identity: string;
  readonly lastPolledAt: number;
  /** Null if the worker names no build. */
  readonly build: string | null;
}

const IDENTITY = /^lote ledger=(\S+) /;
const BUILD_MARK = / build=(\S+)/;

/** Ledger and application of a worker; workers of one scope may do each other's work. */
export function workerScope(ledgerId: string, { application }: { readonly application: string }): string {
  return `${ledgerId}/${application}`;
}

/**
 * Identity of a worker: the worker scope, which separates ledgers and applications, the build, and a unique part,
 * because in containers every worker has the same process id.
 */
export function workerIdentity(
  scope: string,
  { pid, own, build }: { pid: number; own: string; build: string },
): string {
  return `lote ledger=${scope} pid=${pid} id=${own} build=${build}`;
}

/** Lists the workers of a task queue, also a stopped one, which the server remembers for about five minutes. */
export async function queuePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOWS,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    scope: IDENTITY.exec(identity ?? '')?.[1] ?? null,
    identity: identity ?? '',
    build: BUILD_MARK.exec(identity ?? '')?.[1] ?? null,
    lastPolledAt: Number(lastAccessTime?.seconds ?? 0) * MS + Number(lastAccessTime?.nanos ?? 0) / NS_PER_MS,
  }));
}

/** Lists the workers that, by the server's times, have polled within 90 s. */
export async function livePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const since = Date.now() - POLLED_WITHIN_MS;
  return (await queuePollers(client, taskQueue)).filter(({ lastPolledAt }) => lastPolledAt >= since);
}

/**
 * Refuses a task queue that a worker of another ledger or application polls, because each would take the other's runs
 * and refuse them. The ledger id in the input of every activity is the authority.
 * @throws LoteError `ledger-foreign`
 */
export async function requireOwnQueue(client: Client, taskQueue: string, scope: string): Promise<void> {
  const foreign = (await livePollers(client, taskQueue)).find((one) => one.scope !== null && one.scope !== scope);
  if (foreign === undefined) return;
  throw new LoteError(
    'ledger-foreign',
    `Starting a worker on task queue ${taskQueue}: all its workers must keep one ledger and one application, but "${foreign.identity}" asked for work there within the last 90 s, and this one keeps ${scope}. ` +
      'Stop the other worker, and start this one 90 s later, or give this one a task queue of its own (LOTE_TASK_QUEUE).',
  );
}

/** A live worker takes a new run within milliseconds; a starting or busy worker polls again within this time. */
const LOOKS = 20;
const LOOK_EVERY_MS = 500;
const PATIENCE_MS = LOOKS * LOOK_EVERY_MS;

/** The scope of a worker, with its client and queue. */
export interface WorkerPlace {
  readonly client: Client;
  readonly taskQueue: string;
  /** Ledger and application, see `workerScope`. */
  readonly scope: string;
}

/**
 * Waits until the server lists a worker of this ledger and application for the task queue. A listed worker may be dead:
 * a killed one stays listed for five minutes.
 * @throws LoteError `worker-missing` after 10 s without one
 */
export async function requireListedWorker(place: WorkerPlace): Promise<void> {
  const { client, taskQueue, scope } = place;
  const isListed = async (): Promise<boolean> =>
    (await queuePollers(client, taskQueue)).some((poller) => poller.scope === scope);
  if (!(await waitingFor('a worker', () => becomesTrue(isListed)))) throw workerMissing(place);
}

/**
 * Waits up to 10 s until a worker has taken up a run, which then leaves its first queue. Ends a run that no worker has
 * taken up. A run that a worker has begun may have sent invoices, and goes on with the next live worker.
 * @throws LoteError `worker-missing`
 */
export async function requireTakenUp(place: WorkerPlace, workflowId: string, notify: Notify): Promise<void> {
  const { client, taskQueue } = place;
  const isTakenUp = async (): Promise<boolean> => {
    const run = await client.workflow.getHandle(workflowId).describe();
    return run.taskQueue !== taskQueue || run.status.name !== 'RUNNING';
  };
  const isTaken = await waitingFor('a worker', () => becomesTrue(isTakenUp));
  if (!isTaken && (await endUntouchedRun(client, workflowId))) throw workerMissing(place);
  // An error also shows that a worker lives.
  const query = client.workflow.getHandle(workflowId).query('progress');
  const sign = query.then(
    () => true,
    () => true,
  );
  if ((await answerWithin(PATIENCE_MS, sign)) !== null) return;
  notify(
    `${workflowId}: a worker has begun it, but no worker gives a sign of life now. It goes on as soon as one does. Waiting for it; Ctrl-C leaves it to the workers.`,
  );
}

/** Events of a run that no worker has taken up: its start, and its first scheduled task. */
const UNTOUCHED_EVENTS = 2;

/**
 * Ends a run that no worker has taken up. Temporal cannot end a run conditionally, so the history is checked
 * afterwards. Returns false if a worker had begun the run, or if it was over already.
 */
async function endUntouchedRun(client: Client, workflowId: string): Promise<boolean> {
  const { historyLength, status, runId } = await client.workflow.getHandle(workflowId).describe();
  if (status.name !== 'RUNNING' || historyLength > UNTOUCHED_EVENTS) return false;
  const run = client.workflow.getHandle(workflowId, runId);
  await run.terminate('no worker took it up');
  const { events } = await run.fetchHistory();
  // An unfinished answer of a worker has no effect, because it comes too late.
  return !(events ?? []).some(({ workflowTaskCompletedEventAttributes: task }) => Boolean(task));
}

async function becomesTrue(ask: () => Promise<boolean>): Promise<boolean> {
  for (let look = 0; look < LOOKS; look += 1) {
    if (await ask()) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}

function workerMissing({ taskQueue, scope }: WorkerPlace): LoteError {
  return new LoteError(
    'worker-missing',
    `Looking for a worker on task queue ${taskQueue}: one that keeps ${scope} (ledger/application) must be running, but none gave a sign of life for 10 s. Nothing was sent. ` +
      'Start one with `lote worker` on the same DATABASE_URL, TEMPORAL_ADDRESS, LOTE_TASK_QUEUE and LOTE_APPLICATION.',
  );
}
