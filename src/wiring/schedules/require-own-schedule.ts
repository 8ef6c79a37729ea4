import { ScheduleNotFoundError, type Client } from '@temporalio/client';
import { LoteError } from '../../domain/errors.ts';
import { POLLED_WITHIN_MS, queuePollers } from '../temporal/queue-pollers.ts';

/**
 * Refuses to touch a schedule whose runs another installation works on, which has the same application name and shares the
 * namespace: its nights would come here, or end. One whose task queue no worker polls any more may be taken over, as where
 * this installation got another `LOTE_TASK_QUEUE`.
 * @throws LoteError `ledger-foreign`
 */
export async function requireOwnSchedule(client: Client, scheduleId: string, taskQueue: string): Promise<void> {
  const other = await taskQueueOf(client, scheduleId);
  if (other === null || other === taskQueue) return;
  const since = Date.now() - POLLED_WITHIN_MS;
  const pollers = await queuePollers(client, other);
  if (!pollers.some(({ scope, lastPolledAt }) => scope !== null && lastPolledAt >= since)) return;
  throw new LoteError(
    'ledger-foreign',
    `Changing the nights: the schedule ${scheduleId} must start work on task queue ${taskQueue}, but it does on ${other}, where another worker is. ` +
      'Nothing was changed. Where that worker is of this installation, set the same LOTE_TASK_QUEUE, or stop it and wait 90 s. Otherwise give each ' +
      `installation a namespace of its own (TEMPORAL_NAMESPACE; now both have ${client.options.namespace}).`,
  );
}

/** Null: there is no such schedule. */
async function taskQueueOf(client: Client, scheduleId: string): Promise<string | null> {
  try {
    return (await client.schedule.getHandle(scheduleId).describe()).action.taskQueue;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}
