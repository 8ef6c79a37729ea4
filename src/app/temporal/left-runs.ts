import { defaultPayloadConverter } from '@temporalio/common';
import { WorkflowNotFoundError, type Client, type WorkflowExecutionInfo } from '@temporalio/client';
import type { AskedOfRun, BatchInput, EarlierRun, OperatedInput, RetryInput } from '../../domain/messages/messages.ts';
import type { Logger } from '../process/logger.ts';
import { livePollers } from './queue-pollers.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** The server repeats a failed workflow task at once; the third time no restart of a worker is the reason. */
const STUCK_FROM_ATTEMPT = 3;

/** Whose runs are looked at. */
export interface RunsPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  readonly ledger: Pick<Ledger, 'openBatches' | 'findBatch'>;
  readonly log: Pick<Logger, 'warn'>;
}

type OpenRun = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'type' | 'taskQueue'>;

/** Which of the open runs are left. Runs of a build are always left when no live worker polls its queue. */
export interface WhichRuns {
  /** The queue of the only worker that there is: runs of all other builds are left. */
  readonly onlyWorker?: string;
  /** Runs whose workflow task fails again and again are left, too. */
  readonly stuck?: boolean;
  /** Identity of a worker that leaves: where another one is there, it need not be found silent first. */
  readonly leaving?: string;
}

/**
 * Ends open runs with which no worker goes on, and starts them again from the ledger, on any build: that of a batch
 * takes over the claim of the run before, and keeps what operators asked of it. To restart a run that is well costs
 * time and nothing else, because the ledger refuses what the run before still does.
 * @returns the ids of their workflows
 */
export async function restartLeftRuns(place: RunsPlace, which: WhichRuns = {}): Promise<readonly string[]> {
  const { client, log } = place;
  const restarted: string[] = [];
  if (which.leaving !== undefined && !(await isPolled(client, place.taskQueue, which))) return restarted;
  const live = new Map<string, Promise<boolean>>();
  for (const run of await openRuns(place)) {
    try {
      const isLive = live.get(run.taskQueue) ?? isPolled(client, run.taskQueue, which);
      live.set(run.taskQueue, isLive);
      if ((await isLive) && !(which.stuck === true && (await isStuck(client, run)))) continue;
      await restart(place, run);
      restarted.push(run.workflowId);
      log.warn('a run that no worker goes on with starts again from the ledger', {
        workflowId: run.workflowId,
        build: run.taskQueue,
      });
    } catch (err) {
      log.warn('a run that no worker goes on with could not be started again', { workflowId: run.workflowId, err });
    }
  }
  return restarted;
}

/**
 * Runs on the queues of all builds, and those of open batches on the queue that the installation had before. Pages end
 * with their batch, which starts them again.
 */
async function openRuns({ client, taskQueue, ledger, application }: RunsPlace): Promise<readonly OpenRun[]> {
  const prefix = `${taskQueue}@`.replaceAll("'", "''");
  const query = `ExecutionStatus = 'Running' AND TaskQueue STARTS_WITH '${prefix}' AND WorkflowType != 'invoicePage'`;
  const runs: OpenRun[] = [];
  for await (const run of client.workflow.list({ query })) runs.push(run);
  for (const { workflowId, runId } of await ledger.openBatches(application)) {
    if (runs.some((run) => run.runId === runId)) continue;
    const run = await client.workflow
      .getHandle(workflowId, runId)
      .describe()
      .catch((error: unknown) => {
        // Reconciliation closes a batch whose run Temporal does not know.
        if (error instanceof WorkflowNotFoundError) return null;
        throw error;
      });
    if (run?.status.name === 'RUNNING' && run.taskQueue !== taskQueue) runs.push(run);
  }
  return runs;
}

async function isPolled(client: Client, queue: string, { onlyWorker, leaving }: WhichRuns): Promise<boolean> {
  if (onlyWorker !== undefined) return queue === onlyWorker;
  return (await livePollers(client, queue)).some(({ identity }) => identity !== leaving);
}

/** A run is stuck when its workflow task, or that of one of its pages, fails again and again. */
async function isStuck(client: Client, { workflowId, runId }: Pick<OpenRun, 'workflowId' | 'runId'>): Promise<boolean> {
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  if ((raw.pendingWorkflowTask?.attempt ?? 0) >= STUCK_FROM_ATTEMPT) return true;
  for (const { workflowId: page, runId: pageRun, workflowTypeName: type } of raw.pendingChildren ?? [])
    if (page && pageRun && type === 'invoicePage' && (await isStuck(client, { workflowId: page, runId: pageRun })))
      return true;
  return false;
}

async function restart(place: RunsPlace, run: OpenRun): Promise<void> {
  const { client, taskQueue } = place;
  const next = await nextRun(place, run);
  if (next === null) await client.workflow.getHandle(run.workflowId, run.runId).terminate('its night starts it again');
  else
    await client.workflow.start(next.type, {
      workflowId: run.workflowId,
      taskQueue,
      args: next.args,
      ...(next.summary !== undefined && { staticSummary: next.summary }),
      // Ends the run and its pages, and starts the next one, in one step.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
}

interface NextRun {
  readonly type: string;
  readonly args: readonly unknown[];
  readonly summary?: string;
}

/** Null: a night that starts again brings it along. */
async function nextRun(place: RunsPlace, { workflowId, runId, type }: OpenRun): Promise<NextRun | null> {
  const { ledger, application } = place;
  const { args, parent, isBegun, asked } = await readRun(place.client, { workflowId, runId });
  if (type !== 'invoiceBatch' && type !== 'retryInvoices') return { type, args };
  const before = (args[1] ?? {}) as Partial<EarlierRun>;
  const replaces = [...(before.replaces ?? []), runId];
  if (type === 'retryInvoices' && !isBegun)
    return { type, args: [args[0], { sha256: null, replaces, asked } satisfies EarlierRun] };
  const held = (await ledger.openBatches(application)).find(
    (batch) => batch.workflowId === workflowId && batch.runId === runId,
  );
  if (held === undefined && isBegun && parent) return null;
  const retry = type === 'retryInvoices' ? (args[0] as RetryInput) : null;
  const batch = held ?? (await ledger.findBatch(retry?.batch ?? workflowId));
  const input = retry === null ? (args[0] as BatchInput) : inputOf(batch, retry);
  // As in `workflows/invoice-batch.ts`; the next run has no parent.
  const first = input.resumed === true ? 'none' : parent ? 'drop' : 'person';
  const order = isBegun ? 'restart' : (before.order ?? first);
  const sha256 = batch?.sha256 ?? before.sha256 ?? null;
  return {
    type: 'invoiceBatch',
    args: [input, { sha256, order, replaces, asked } satisfies EarlierRun],
    summary: input.file,
  };
}

/** What a retry chose is in the ledger once it has begun: its batch goes on as any other. */
function inputOf(batch: BatchRecord | null, { batch: batchId, ledgerId }: RetryInput): BatchInput {
  return { file: batch?.file ?? batchId, ...(ledgerId !== undefined && { ledgerId }) };
}

interface ReadRun {
  readonly args: readonly unknown[];
  /** Another workflow has started it. */
  readonly parent: boolean;
  /** Its first step has ended: what it had to do is in the ledger. */
  readonly isBegun: boolean;
  /** What it was asked, but for retries that are in the ledger. */
  readonly asked: readonly AskedOfRun[];
}

interface Payloads {
  readonly payloads?: readonly Parameters<typeof defaultPayloadConverter.fromPayload>[0][] | null;
}

/** The history of a run is what it has promised: its updates were answered. */
async function readRun(client: Client, { workflowId, runId }: { workflowId: string; runId: string }): Promise<ReadRun> {
  const events = (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const args = valuesOf(started?.input);
  const asked = [...((args[1] as Partial<EarlierRun> | undefined)?.asked ?? [])];
  const requests = new Map<string, number>();
  let taken = 0;
  let isBegun = false;
  let at = 0;
  for (const event of events) {
    // The clock of a workflow stands still within a task.
    if (event.workflowTaskStartedEventAttributes) at = millisOf(event.eventTime);
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
    if (update?.name) asked.push({ name: update.name, input: valuesOf(update.args)[0], at });
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName === 'operated') asked.push(askedBy(valuesOf(signal.input)[0] as OperatedInput, at));
    const step = event.activityTaskScheduledEventAttributes;
    if (step?.activityType?.name === 'sendAgain') {
      const [input] = valuesOf(step.input) as readonly { readonly requests: readonly unknown[] }[];
      requests.set(String(event.eventId), input?.requests.length ?? 0);
    }
    const ended = event.activityTaskCompletedEventAttributes;
    if (ended) {
      isBegun = true;
      taken += requests.get(String(ended.scheduledEventId)) ?? 0;
    }
  }
  // Retries are taken up in the order in which they were asked.
  const isTaken = ({ name }: AskedOfRun): boolean => name === 'retryInvoices' && taken-- > 0;
  return {
    args,
    parent: Boolean(started?.parentWorkflowExecution),
    isBegun,
    asked: asked.filter((one) => !isTaken(one)),
  };
}

function millisOf(time: { seconds?: unknown; nanos?: number | null } | null | undefined): number {
  return Number(time?.seconds ?? 0) * 1_000 + Math.floor((time?.nanos ?? 0) / 1_000_000);
}

function valuesOf(input: Payloads | null | undefined): readonly unknown[] {
  return (input?.payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload));
}

function askedBy({ what, why, who }: OperatedInput, at: number): AskedOfRun {
  return { name: what === 'cancel-remaining' ? 'cancelRemaining' : what, input: { reason: why, who }, at };
}
