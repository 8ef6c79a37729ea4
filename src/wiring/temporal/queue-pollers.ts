import type { Client } from '@temporalio/client';
import { activityQueue } from '../../contract/activity-queue.ts';
import { PATCHES } from '../../contract/patches.ts';

/** TASK_QUEUE_TYPE_WORKFLOW: on the queue of the workflows every process with a worker polls for them. */
const WORKFLOWS = 1;
/** TASK_QUEUE_TYPE_ACTIVITY: on the own queue of one of several applications workers poll for nothing else. */
const ACTIVITIES = 2;
/** TASK_QUEUE_KIND_NORMAL */
const NORMAL_QUEUE = 1;
/** The server refuses polls with less than 2 s left, and answers one with 2.5 s left after 0.5 s. */
const SHORTEST_POLL_MS = 2_500;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** A live worker polls at least once a minute. */
export const POLLED_WITHIN_MS = 90_000;

/** A worker that polled a task queue. The server forgets it about five minutes after its last poll. */
export interface QueuePoller {
  /** Its worker scope, see `workerScope`. Null: not a worker of Lote. */
  readonly scope: string | null;
  readonly identity: string;
  readonly lastPolledAt: number;
  /** How many patches of the workflows it knows, the first ones of `PATCHES`. Null: it does not say. */
  readonly patches: number | null;
  /** `profileMark` of its service profile. Left out: it does not say. */
  readonly profile?: string;
}

const IDENTITY = /^lote ledger=(\S+) /;
const PROFILE_MARK = / profile=(\S+) /;
const PATCH_COUNT = / patches=(\d+)$/;

/** Stands where one application would be named: no name of one has this sign. */
const SEVERAL = '*';

/** Ledger and application that a worker serves: workers of one scope may do each other's work. Several share a worker. */
export function workerScope(
  ledgerId: string,
  { application, isOneOfSeveral }: { readonly application: string; readonly isOneOfSeveral: boolean },
): string {
  return `${ledgerId}/${isOneOfSeveral ? SEVERAL : application}`;
}

/**
 * Identity of a worker. It holds the worker scope, which tells workers of another ledger or application apart, a unique
 * part, because in containers every worker has the same process id, the mark of its service profile, and how many
 * patches of the workflows it knows.
 */
export function workerIdentity(scope: string, pid: number, own: string, profile: string | null): string {
  const mark = profile === null ? '' : ` profile=${profile}`;
  return `lote ledger=${scope} pid=${pid} id=${own}${mark} patches=${PATCHES.length}`;
}

/** Workers that say that they have another service profile; null: nothing is compared. */
export function withOtherProfile(pollers: readonly QueuePoller[], own: string | null): readonly QueuePoller[] {
  if (own === null) return [];
  return pollers.filter(({ profile }) => profile !== undefined && profile !== own);
}

/** The workers of a task queue that the server remembers, without those that have deregistered. */
export async function queuePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  return withoutDeparted(client, taskQueue, listedPollers(client, taskQueue, WORKFLOWS));
}

/**
 * Whether a worker polled in the last 90 s for the activities of one of several applications, wherever it runs: it has
 * the application's file. One that was killed counts until then.
 */
export async function isApplicationPolled(client: Client, taskQueue: string, application: string): Promise<boolean> {
  const listed = listedPollers(client, activityQueue(taskQueue, application), ACTIVITIES);
  const since = Date.now() - POLLED_WITHIN_MS;
  return (await withoutDeparted(client, taskQueue, listed)).some(({ lastPolledAt }) => lastPolledAt >= since);
}

/** A worker departs from all its queues at once, and says so for the one of its workflows. */
async function withoutDeparted(
  client: Client,
  taskQueue: string,
  polling: Promise<readonly QueuePoller[]>,
): Promise<readonly QueuePoller[]> {
  const [listed, left] = await Promise.all([polling, listedPollers(client, departureQueue(taskQueue), WORKFLOWS)]);
  const leftAt = new Map(left.map(({ identity, lastPolledAt }) => [identity, lastPolledAt]));
  return listed.filter(
    ({ identity, lastPolledAt }) => lastPolledAt > (leftAt.get(identity) ?? Number.NEGATIVE_INFINITY),
  );
}

/**
 * Deregisters a worker: it polls once a queue that never has work. The server lists this poll with the time of its own
 * clock, as long as it lists the worker on its real queue. So everybody with access to Temporal sees that the worker
 * has left, whatever ledger they use. Takes half a second.
 */
export async function deregisterWorker(client: Client, taskQueue: string, identity: string): Promise<void> {
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

async function listedPollers(
  client: Client,
  taskQueue: string,
  taskQueueType: typeof WORKFLOWS | typeof ACTIVITIES,
): Promise<readonly QueuePoller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    scope: IDENTITY.exec(identity ?? '')?.[1] ?? null,
    identity: identity ?? '',
    patches: patchCountIn(identity ?? ''),
    ...profileIn(identity ?? ''),
    lastPolledAt: Number(lastAccessTime?.seconds ?? 0) * MS + Number(lastAccessTime?.nanos ?? 0) / NS_PER_MS,
  }));
}

function profileIn(identity: string): Pick<QueuePoller, 'profile'> {
  const profile = PROFILE_MARK.exec(identity)?.[1];
  return profile === undefined ? {} : { profile };
}

function patchCountIn(identity: string): number | null {
  const count = PATCH_COUNT.exec(identity)?.[1];
  return count === undefined ? null : Number(count);
}
