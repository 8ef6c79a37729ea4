import type { Client } from '@temporalio/client';

/** TASK_QUEUE_TYPE_WORKFLOW: every worker of Lote asks for workflow tasks. */
const WORKFLOWS = 1;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** A worker that asked a task queue for work; the server forgets one about five minutes after it stopped asking. */
export interface QueuePoller {
  /** What it keeps, see `keeping`. Null: not a worker of Lote. */
  readonly keeps: string | null;
  readonly identity: string;
  readonly lastAskedAt: number;
}

const IDENTITY = /^lote ledger=(\S+) /;

/** One application's part of one ledger: workers with the same one may do each other's work. */
export function keeping(ledgerId: string, application: string): string {
  return `${ledgerId}/${application}`;
}

/** What a worker calls itself: what it keeps stands in it, so that workers of another ledger or application can be told from it. */
export function workerIdentity(keeps: string, pid: number): string {
  return `lote ledger=${keeps} pid=${pid}`;
}

/** Who asks for work on a task queue, as far as the server remembers. */
export async function queuePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOWS,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    keeps: IDENTITY.exec(identity ?? '')?.[1] ?? null,
    identity: identity ?? '',
    lastAskedAt: Number(lastAccessTime?.seconds ?? 0) * MS + Number(lastAccessTime?.nanos ?? 0) / NS_PER_MS,
  }));
}
