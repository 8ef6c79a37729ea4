import { type Client, ScheduleAlreadyRunning, type WorkflowHandle } from '@temporalio/client';
import type { Config } from '../config/config.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import type { ReconcileAnswer } from '../../console/console-options.ts';
import { answeredCall, answerWithin, batchFailure, unlessUnknown } from '../temporal/calls.ts';

/** Often enough that a report is right long before a person reads it, and rarely enough to cost nothing. */
const EVERY = '15m';
/** A run missed during a downtime is worthless, because the next run sees the same. */
const CATCH_UP = '1m';
const NOTE = 'Repeats unknown invoices, polls pending ones, rewrites the reports that late answers changed.';

type Place = Pick<Config, 'application' | 'taskQueue'>;

/** Id of the schedule, one per application and task queue; ids of its runs begin with it. */
export function reconciliationId({ application, taskQueue }: Place): string {
  const prefix = application === 'default' ? '' : `${application}-`;
  const suffix = taskQueue === 'lote' ? '' : `-${taskQueue}`;
  return `${prefix}reconciliation${suffix}`;
}

/** Creates the reconciliation schedule if it is missing; keeps a schedule that an operator has paused or changed. */
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

/** Whether the schedule is paused, and why; null without a schedule. */
export async function describeReconciliation(
  client: Client,
  place: Place,
): Promise<{ readonly paused: boolean; readonly note: string | null } | null> {
  const found = await unlessUnknown(client.schedule.getHandle(reconciliationId(place)).describe());
  return found === null ? null : { paused: found.state.paused, note: found.state.note ?? null };
}

/** Starts a reconciliation of all open invoices, due or not, or joins a running one. */
export async function startReconciliation(
  client: Client,
  place: Place,
  ledgerId: string,
): Promise<WorkflowHandle<typeof reconciliation>> {
  return client.workflow.start<typeof reconciliation>('reconciliation', {
    workflowId: `${reconciliationId(place)}-now`,
    taskQueue: place.taskQueue,
    args: [{ ledgerId, all: true }],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}

/** A page waits this long; a longer run goes on without the page. */
const PAGE_PATIENCE_MS = 8_000;

/** Does the same as `lote reconcile`, for a page. `patienceMs`: see `answeredCall`. */
export function createConsoleReconcile(
  client: Client,
  place: Place,
  ledgerId: string,
  patienceMs?: number,
): () => Promise<ReconcileAnswer> {
  return async () => {
    const start = (): ReturnType<typeof startReconciliation> => startReconciliation(client, place, ledgerId);
    const run = await answeredCall(client, 'Reconciling', start, patienceMs);
    try {
      const ended = await answerWithin(PAGE_PATIENCE_MS, run.result());
      return ended === null ? { how: 'started' } : { how: 'ended', ...ended };
    } catch (error) {
      throw batchFailure(error);
    }
  };
}
