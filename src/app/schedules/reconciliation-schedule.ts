import type { Client } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import type { Config } from '../config/config.ts';

/** Often enough that a report is right long before anybody reads it, seldom enough to cost nothing. */
const EVERY = '15m';
/** One that was missed while everything was down is worth nothing: the next one sees the same. */
const CATCH_UP = '1m';
const NOTE = 'Repeats unknown invoices, polls pending ones, rewrites the reports that late answers changed.';

type Place = Pick<Config, 'application' | 'taskQueue'>;

/** One schedule for each application and task queue; also the start of its runs' ids. */
export function reconciliationId({ application, taskQueue }: Place): string {
  const prefix = application === 'default' ? '' : `${application}-`;
  const suffix = taskQueue === 'lote' ? '' : `-${taskQueue}`;
  return `${prefix}reconciliation${suffix}`;
}

/** Makes sure that reconciliation is scheduled; one that an operator paused or changed stays as it is. */
export async function ensureReconciliationSchedule(
  client: Client,
  place: Place,
  log: { warn(message: string, fields?: Record<string, unknown>): void },
): Promise<void> {
  const scheduleId = reconciliationId(place);
  const { application, taskQueue } = place;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: EVERY }] },
      action: { type: 'startWorkflow', workflowType: 'reconciliation', workflowId: scheduleId, taskQueue, args: [{}] },
      policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
      state: { note: NOTE },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return;
    log.warn('reconciliation is not scheduled; lote reconcile does the same by hand', { application, err: error });
  }
}

/** Whether it goes on, and why not. Null: there is none. */
export async function describeReconciliation(
  client: Client,
  place: Place,
): Promise<{ readonly paused: boolean; readonly note: string | null } | null> {
  try {
    const { state } = await client.schedule.getHandle(reconciliationId(place)).describe();
    return { paused: state.paused, note: state.note ?? null };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}
