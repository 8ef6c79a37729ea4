import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { eachOf } from '../../concurrency/each-of.ts';
import { POLLED_WITHIN_MS, queuePollers } from '../temporal/queue-pollers.ts';
import { trouble, type Check } from './check.ts';

/** One question to the server each, and so many at a time. */
const MOST_ASKED = 200;
const ASKED_AT_ONCE = 20;
/** As many as one line can name. */
const MOST_NAMED = 5;

type OpenRun = Pick<BatchRecord, 'batchId' | 'workflowId' | 'runId' | 'startedAt'>;

/** Batches whose run Temporal has open on another task queue, by that queue. */
type Elsewhere = ReadonlyMap<string, readonly string[]>;

/**
 * A run stays on the task queue on which it began. After a change of LOTE_TASK_QUEUE, what is open waits there for a worker that never comes, and Temporal calls it
 * running. Those that began first are asked for first. No check where nothing waits so.
 */
export async function checkOpenRuns(
  client: Client,
  taskQueue: string,
  open: readonly OpenRun[],
): Promise<readonly Check[]> {
  const oldest = open.toSorted((a, b) => a.startedAt - b.startedAt).slice(0, MOST_ASKED);
  const elsewhere = await openElsewhere(client, taskQueue, oldest);
  const since = Date.now() - POLLED_WITHIN_MS;
  const found: Check[] = [];
  for (const [queue, batches] of elsewhere) {
    // oxlint-disable-next-line no-await-in-loop -- there are as many as names that one Lote has had
    const pollers = await queuePollers(client, queue);
    if (!pollers.some(({ lastPolledAt }) => lastPolledAt >= since)) found.push(waiting(queue, taskQueue, batches));
  }
  return found;
}

async function openElsewhere(client: Client, taskQueue: string, open: readonly OpenRun[]): Promise<Elsewhere> {
  const elsewhere = new Map<string, string[]>();
  await eachOf(open, ASKED_AT_ONCE, async ({ batchId, workflowId, runId }) => {
    const queue = await openQueue(client, workflowId, runId);
    if (queue !== null && queue !== taskQueue) elsewhere.set(queue, [...(elsewhere.get(queue) ?? []), batchId]);
  });
  return elsewhere;
}

/** Task queue of an open run; null: it has ended, or Temporal does not know it, which reconciliation mends. */
async function openQueue(client: Client, workflowId: string, runId: string): Promise<string | null> {
  try {
    const { status, taskQueue } = await client.workflow.getHandle(workflowId, runId).describe();
    return status.name === 'RUNNING' ? taskQueue : null;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

function waiting(queue: string, taskQueue: string, batches: readonly string[]): Check {
  const more = batches.length > MOST_NAMED ? ` and ${batches.length - MOST_NAMED} more` : '';
  return trouble(
    'open batches',
    `Nobody works on task queue ${queue}, on which the runs of these batches wait: ${batches.slice(0, MOST_NAMED).join(', ')}${more}. This Lote works on ${taskQueue}.`,
    `Set LOTE_TASK_QUEUE=${queue} until they have ended, then change it; nothing of them was lost.`,
  );
}
