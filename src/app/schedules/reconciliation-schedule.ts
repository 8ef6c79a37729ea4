import { type Client, ScheduleAlreadyRunning, ScheduleNotFoundError, type WorkflowHandle } from '@temporalio/client';
import type { Config } from '../config/config.ts';
import type { reconciliation } from '../../../workflows/reconciliation.ts';
import type { ReconcileAnswer } from '../../console/console-options.ts';
import { answeredCall, answerWithin, batchFailure } from '../temporal/calls.ts';

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

type ReconciliationPlace = Pick<Config, 'application' | 'taskQueue'>;

/** Everything that was left open, due or not; joins one that runs already. */
export async function startReconciliation(
  client: Client,
  place: ReconciliationPlace,
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

/** A page waits this long; what takes longer goes on without it. */
const PAGE_PATIENCE_MS = 8_000;

/** The same as `lote reconcile`, for a page. `patienceMs`: see `answeredCall`. */
export function createConsoleReconcile(
  client: Client,
  place: ReconciliationPlace,
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
