import type { Client } from '@temporalio/client';
import { LoteError } from '../../../domain/errors.ts';
import { GRPC_STATUS } from '../../../runtime/temporal/grpc-status.ts';
import { temporalRefusal } from '../../../runtime/temporal/temporal-failure.ts';
import { answerWithin } from '../answer-within.ts';

/** The server repeats a failed workflow task at once; the third time nobody's restart is the reason. */
const STUCK_FROM_ATTEMPT = 3;
/** Pages of one batch that are looked at. */
const MOST_PAGES = 20;
const MOST_EVENTS = 100;
const PATIENCE_MS = 2_000;
/** EVENT_TYPE_WORKFLOW_TASK_COMPLETED */
const TASK_COMPLETED = 7;
/** EVENT_TYPE_WORKFLOW_TASK_FAILED */
const TASK_FAILED = 8;
/** Numbers of WorkflowTaskFailedCause that a person can do something about. */
const CAUSES: Readonly<Record<number, string>> = {
  14: 'WORKFLOW_WORKER_UNHANDLED_FAILURE',
  24: 'NON_DETERMINISTIC_ERROR',
};

/** A run whose workflow task fails again and again: nothing of it goes on until a worker with fitting code takes it. */
export interface StuckRun {
  readonly workflowId: string;
  readonly attempts: number;
  /** Epoch milliseconds; null: the server does not say. */
  readonly since: number | null;
  /** The server's word for it, such as NON_DETERMINISTIC_ERROR. Never a failure's own text. */
  readonly cause: string;
  /** Version and workflows of the Lote that made its last step, such as `0.1.0+9f86d081884c`; null: not known. */
  readonly build: string | null;
}

/**
 * Looks at a batch's run and at its pages; null when all goes on, or when nothing runs.
 * @throws LoteError `temporal-unavailable` when Temporal does not answer within 2 s
 */
export async function queryStuckRun(client: Client, workflowId: string): Promise<StuckRun | null> {
  const asked = look(client, workflowId).then(
    (stuck) => ({ stuck }),
    (error: unknown) => (temporalRefusal(error)?.code === GRPC_STATUS.notFound ? { stuck: null } : null),
  );
  const answer = await answerWithin(PATIENCE_MS, asked);
  if (answer !== null) return answer.stuck;
  throw new LoteError(
    'temporal-unavailable',
    `Looking whether ${workflowId} goes on: Temporal did not answer in time.`,
  );
}

/** The same for whoever shows it: null too when nobody knows. */
export function findStuckRun(client: Client, workflowId: string): Promise<StuckRun | null> {
  return queryStuckRun(client, workflowId).catch(() => null);
}

async function look(client: Client, workflowId: string): Promise<StuckRun | null> {
  const { pendingWorkflowTask, pendingChildren } = await describe(client, workflowId);
  const own = await stuckBy(client, workflowId, pendingWorkflowTask);
  if (own !== null) return own;
  const pages = (pendingChildren ?? []).slice(0, MOST_PAGES).flatMap(({ workflowId: page }) => page ?? []);
  const found = await Promise.all(
    pages.map(async (page) => stuckBy(client, page, (await describe(client, page)).pendingWorkflowTask)),
  );
  return found.find((stuck) => stuck !== null) ?? null;
}

type Described = Awaited<ReturnType<Client['workflowService']['describeWorkflowExecution']>>;

function describe(client: Client, workflowId: string): Promise<Described> {
  const { namespace } = client.options;
  return client.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
}

async function stuckBy(
  client: Client,
  workflowId: string,
  task: Described['pendingWorkflowTask'],
): Promise<StuckRun | null> {
  const attempts = task?.attempt ?? 0;
  if (attempts < STUCK_FROM_ATTEMPT) return null;
  const scheduled = task?.originalScheduledTime?.seconds;
  return {
    ...{ workflowId, attempts },
    since: scheduled === undefined || scheduled === null ? null : Number(scheduled) * 1_000,
    ...(await readHistory(client, workflowId)),
  };
}

/** The first failure is in the history, the repeated ones are not; before it, the last task that was completed. */
async function readHistory(client: Client, workflowId: string): Promise<Pick<StuckRun, 'cause' | 'build'>> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId },
    maximumPageSize: MOST_EVENTS,
  });
  const events = history?.events ?? [];
  const last = events.findIndex(({ eventType }) => eventType === TASK_COMPLETED);
  const completed = events[last];
  const since = last === -1 ? events : events.slice(0, last);
  const failed = since.find(({ eventType }) => eventType === TASK_FAILED)?.workflowTaskFailedEventAttributes?.cause;
  return {
    cause: failed === undefined || failed === null ? 'WORKFLOW_TASK_TIMED_OUT' : (CAUSES[failed] ?? `CAUSE_${failed}`),
    build: completed?.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? null,
  };
}
