import type { Client } from '@temporalio/client';

/** TASK_QUEUE_TYPE_WORKFLOW: every worker of Lote asks for workflow tasks. */
const WORKFLOWS = 1;
const MS = 1_000;
const NS_PER_MS = 1_000_000;

/** A worker that asked a task queue for work; the server forgets one about five minutes after it stopped asking. */
export interface QueuePoller {
  /** Null: not a worker of Lote. */
  readonly ledgerId: string | null;
  readonly identity: string;
  readonly lastAskedAt: number;
}

const IDENTITY = /^lote ledger=(\S+) /;

/** What a worker calls itself: its ledger stands in it, so that workers of another ledger can be told from it. */
export function workerIdentity(ledgerId: string, pid: number): string {
  return `lote ledger=${ledgerId} pid=${pid}`;
}

/** Who asks for work on a task queue, as far as the server remembers. */
export async function queuePollers(client: Client, taskQueue: string): Promise<readonly QueuePoller[]> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOWS,
  });
  return (pollers ?? []).map(({ identity, lastAccessTime }) => ({
    ledgerId: IDENTITY.exec(identity ?? '')?.[1] ?? null,
    identity: identity ?? '',
    lastAskedAt: Number(lastAccessTime?.seconds ?? 0) * MS + Number(lastAccessTime?.nanos ?? 0) / NS_PER_MS,
  }));
}
