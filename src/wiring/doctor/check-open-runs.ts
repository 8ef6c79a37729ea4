import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { BatchRecord } from '../../domain/ports/ledger/batch-record.ts';
import { POLLED_WITHIN_MS, queuePollers } from '../temporal/queue-pollers.ts';
import { trouble, type Check } from './check.ts';

/** One question to the server each. */
const MOST_ASKED = 20;
/** As many as one line can name. */
const MOST_NAMED = 5;

/** Batches whose run Temporal has open on another task queue, by that queue. */
type Elsewhere = ReadonlyMap<string, readonly string[]>;

/**
 * A run stays on the task queue on which it began. After a change of LOTE_TASK_QUEUE, what is open waits there for a worker that never comes, and Temporal calls it
 * running. No check where nothing of the newest open batches waits so.
 */
export async function checkOpenRuns(
  client: Client,
  taskQueue: string,
  open: readonly Pick<BatchRecord, 'batchId' | 'workflowId' | 'runId'>[],
): Promise<readonly Check[]> {
  const elsewhere = await openElsewhere(client, taskQueue, open.slice(0, MOST_ASKED));
  const since = Date.now() - POLLED_WITHIN_MS;
  const found: Check[] = [];
  for (const [queue, batches] of elsewhere) {
    // oxlint-disable-next-line no-await-in-loop -- there are as many as names that one Lote has had
    const pollers = await queuePollers(client, queue);
    if (!pollers.some(({ lastPolledAt }) => lastPolledAt >= since)) found.push(waiting(queue, taskQueue, batches));
  }
  return found;
}

async function openElsewhere(
  client: Client,
  taskQueue: string,
  open: readonly Pick<BatchRecord, 'batchId' | 'workflowId' | 'runId'>[],
): Promise<Elsewhere> {
  const elsewhere = new Map<string, string[]>();
  const queues = await Promise.all(open.map(async ({ workflowId, runId }) => openQueue(client, workflowId, runId)));
  for (const [at, queue] of queues.entries()) {
    const batchId = open[at]?.batchId;
    if (queue === null || queue === taskQueue || batchId === undefined) continue;
    elsewhere.set(queue, [...(elsewhere.get(queue) ?? []), batchId]);
  }
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
