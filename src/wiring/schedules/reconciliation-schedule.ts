import type { Client } from '@temporalio/client';
import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { commandLine } from '../../domain/text/command-line.ts';
import { namedInput } from '../temporal/named-input.ts';
import type { Config } from '../../runtime/config/config.ts';
import { isIdOfAnyApplication } from './schedule-id.ts';
import { bringInput } from './schedule-input.ts';
import { RECONCILES } from './schedule-note.ts';

/** Often enough that a report is right long before anybody reads it, seldom enough to cost nothing. */
const EVERY = '15m';
/** One that was missed while everything was down is worth nothing: the next one sees the same. */
const CATCH_UP = '1m';

type Place = Pick<Config, 'application' | 'taskQueue' | 'isOneOfSeveral'>;

/** Those of two hundred applications must not all begin at one moment. */
const SPREAD = '5m';

/** One schedule for each application and task queue; also the start of its runs' ids. */
export function reconciliationId({ application, taskQueue }: Pick<Place, 'application' | 'taskQueue'>): string {
  const prefix = application === 'default' ? '' : `${application}-`;
  const suffix = taskQueue === 'lote' ? '' : `-${taskQueue}`;
  return `${prefix}reconciliation${suffix}`;
}

/** Whether an id is one that Lote gives to reconciliation on another task queue, of whatever application. */
export function isReconciliationElsewhere(scheduleId: string, taskQueue: string): boolean {
  const here = reconciliationId({ application: 'default', taskQueue });
  if (isIdOfAnyApplication(scheduleId, here)) return false;
  return /(?:^|-)reconciliation(?:-|$)/u.test(scheduleId);
}

/** Makes sure that reconciliation is scheduled; one that an operator paused or changed stays as it is. */
export async function ensureReconciliationSchedule(
  client: Client,
  place: Place,
  log: { warn(message: string, fields?: Record<string, unknown>): void },
): Promise<void> {
  const scheduleId = reconciliationId(place);
  const action = {
    type: 'startWorkflow' as const,
    workflowType: 'reconciliation',
    workflowId: scheduleId,
    taskQueue: place.taskQueue,
    args: [namedInput(place)],
  };
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [{ every: EVERY }], ...(place.isOneOfSeveral ? { jitter: SPREAD } : {}) },
      action,
      policies: { overlap: 'SKIP', catchupWindow: CATCH_UP },
      state: { note: RECONCILES },
    });
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) {
      await bringInput(client, scheduleId, place).catch(unscheduled);
      return;
    }
    unscheduled(error);
  }

  function unscheduled(error: unknown): void {
    log.warn(`reconciliation is not scheduled; ${commandLine(place, 'reconcile')} does the same by hand`, {
      application: place.application,
      err: error,
    });
  }
}

/** Whether it goes on, and why not. Null: there is none. */
export async function describeReconciliation(
  client: Client,
  place: Pick<Place, 'application' | 'taskQueue'>,
): Promise<{ readonly paused: boolean; readonly note: string | null } | null> {
  try {
    const { state } = await client.schedule.getHandle(reconciliationId(place)).describe();
    return { paused: state.paused, note: state.note ?? null };
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return null;
    throw error;
  }
}
