import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';

/** TASK_QUEUE_TYPE_WORKFLOW: every process with a worker polls the workflow queue. */
const WORKFLOWS = 1;

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
    lastPolledAt: millisOf(lastAccessTime),
  }));
}

/** Returns a time of the server in epoch milliseconds; 0 for no time. */
export function millisOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1_000_000);
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

/** A worker that is starting begins to poll before this many looks are over. */
const LOOKS = 20;
const LOOK_EVERY_MS = 500;

/**
 * Waits until the server lists a worker of this ledger and application for the task queue. A killed worker stays listed for five
 * minutes; a run that it does not take up waits for the next worker.
 * @throws LoteError `worker-missing` after 10 s without one
 */
export async function requireListedWorker(client: Client, taskQueue: string, scope: string): Promise<void> {
  // No poller is left out for its age: that would compare the server's clock with this machine's.
  const isListed = async (): Promise<boolean> =>
    (await queuePollers(client, taskQueue)).some((poller) => poller.scope === scope);
  const isFound = await waitingFor('a worker', async () => {
    for (let look = 0; look < LOOKS; look += 1) {
      if (await isListed()) return true;
      await sleep(LOOK_EVERY_MS);
    }
    return false;
  });
  if (isFound) return;
  throw new LoteError(
    'worker-missing',
    `Looking for a worker on task queue ${taskQueue}: one that keeps ${scope} (ledger/application) must be running, but none gave a sign of life for 10 s. Nothing was sent. ` +
      'Start one with `lote worker` on the same DATABASE_URL, TEMPORAL_ADDRESS, LOTE_TASK_QUEUE and LOTE_APPLICATION.',
  );
}
