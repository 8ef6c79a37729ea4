import type { Client } from '@temporalio/client';

/** TASK_QUEUE_TYPE_WORKFLOW: every worker of Lote asks for workflow tasks. */
const WORKFLOWS = 1;
/** TASK_QUEUE_KIND_NORMAL */
const NORMAL_QUEUE = 1;
/** The server refuses polls with less than 2 s left, and answers one with 2.5 s left after 0.5 s. */
const SHORTEST_POLL_MS = 2_500;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** A worker that asked a task queue for work; the server forgets one about five minutes after it stopped asking. */
export interface QueuePoller {
  /** What it keeps, see `workerScope`. Null: not a worker of Lote. */
  readonly scope: string | null;
  readonly identity: string;
  readonly lastAskedAt: number;
}

const IDENTITY = /^lote ledger=(\S+) /;

/** One application's part of one ledger: workers with the same one may do each other's work. */
export function workerScope(ledgerId: string, application: string): string {
  return `${ledgerId}/${application}`;
}

/**
 * What a worker calls itself. What it keeps stands in it, so that workers of another ledger or application can be told from it, and a
 * part that no other worker has: in containers every worker has the same process id.
 */
export function workerIdentity(scope: string, pid: number, own: string): string {
  return `lote ledger=${scope} pid=${pid} id=${own}`;
}

/** The workers of a task queue, as far as the server remembers, without those that said goodbye. */
export async function queuePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const [listed, left] = await Promise.all([
    listedPollers(client, taskQueue),
    listedPollers(client, departureQueue(taskQueue)),
  ]);
  const leftAt = new Map(left.map(({ identity, lastAskedAt }) => [identity, lastAskedAt]));
  return listed.filter(({ identity, lastAskedAt }) => lastAskedAt > (leftAt.get(identity) ?? Number.NEGATIVE_INFINITY));
}

/**
 * Says goodbye: the worker asks once for work on a queue that never has any. The server lists it there with the time, by its own clock, as long
 * as it lists the worker on its real queue, so that everybody with access to Temporal sees that it has left, whatever ledger they keep.
 * Takes half a second.
 */
export async function sayGoodbye(client: Client, taskQueue: string, identity: string): Promise<void> {
  await client.connection.withDeadline(Date.now() + SHORTEST_POLL_MS, () =>
    client.workflowService.pollWorkflowTaskQueue({
      namespace: client.options.namespace,
      taskQueue: { name: departureQueue(taskQueue), kind: NORMAL_QUEUE },
      identity,
    }),
  );
}

function departureQueue(taskQueue: string): string {
  return `${taskQueue}/left`;
}

async function listedPollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOWS,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    scope: IDENTITY.exec(identity ?? '')?.[1] ?? null,
    identity: identity ?? '',
    lastAskedAt: Number(lastAccessTime?.seconds ?? 0) * MS + Number(lastAccessTime?.nanos ?? 0) / NS_PER_MS,
  }));
}
