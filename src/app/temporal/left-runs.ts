import { defaultPayloadConverter } from '@temporalio/common';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { AskedOfRun, BatchInput, EarlierRun, RetryInput } from '../../domain/messages/messages.ts';
import type { Logger } from '../process/logger.ts';
import { unlessUnknown } from './calls.ts';
import { livePollers, millisOf } from './queue-pollers.ts';
import type { BatchRecord } from '../../domain/records/batch-record.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** The server repeats a failed workflow task at once, so a third attempt is not due to a worker's restart. */
const STUCK_FROM_ATTEMPT = 3;

/** The installation whose runs are checked. */
export interface RunsPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  readonly ledger: Pick<Ledger, 'openBatches' | 'findBatch'>;
  readonly log: Pick<Logger, 'warn'>;
}

type OpenRun = Pick<WorkflowExecutionInfo, 'workflowId' | 'runId' | 'type' | 'taskQueue'>;

/** Selects the open runs to restart. Runs of a build always count as left when no live worker polls its queue. */
export interface WhichRuns {
  /** Queue of the only worker; runs of all other builds are left. */
  readonly onlyWorker?: string;
  /** True also selects runs whose workflow task fails repeatedly. */
  readonly stuck?: boolean;
  /** Identity of a leaving worker, which does not count as live; runs are restarted only if another worker is there. */
  readonly leaving?: string;
}

/**
 * Ends open runs that no worker continues, and starts them again from the ledger, on any build. The new run of a batch
 * takes over the claim of the old run and its operators' requests. Restarting a healthy run only costs time, because
 * the ledger refuses further writes of the old run.
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
 * Returns runs on the queues of all builds, and runs of open batches on an earlier queue of the installation. Pages are
 * missing, because they end with their batch, which starts them again.
 */
async function openRuns({ client, taskQueue, ledger, application }: RunsPlace): Promise<readonly OpenRun[]> {
  const prefix = `${taskQueue}@`.replaceAll("'", "''");
  const query = `ExecutionStatus = 'Running' AND TaskQueue STARTS_WITH '${prefix}' AND WorkflowType != 'invoicePage'`;
  const runs: OpenRun[] = [];
  for await (const run of client.workflow.list({ query })) runs.push(run);
  for (const { workflowId, runId } of await ledger.openBatches(application)) {
    if (runs.some((run) => run.runId === runId)) continue;
    // Reconciliation closes a batch whose run Temporal does not know.
    const run = await unlessUnknown(client.workflow.getHandle(workflowId, runId).describe());
    if (run?.status.name === 'RUNNING' && run.taskQueue !== taskQueue) runs.push(run);
  }
  return runs;
}

async function isPolled(client: Client, queue: string, { onlyWorker, leaving }: WhichRuns): Promise<boolean> {
  if (onlyWorker !== undefined) return queue === onlyWorker;
  return (await livePollers(client, queue)).some(({ identity }) => identity !== leaving);
}

/** A run is stuck when its workflow task, or that of one of its pages, fails repeatedly. */
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
  if (next === null) {
    await client.workflow.getHandle(run.workflowId, run.runId).terminate('its night starts it again');
    return;
  }
  const { type, ...input } = next;
  await client.workflow.start(type, {
    ...{ ...input, workflowId: run.workflowId, taskQueue },
    // Ends the run and its pages, and starts the new run, in one step.
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
}

interface NextRun {
  readonly type: string;
  readonly args: readonly unknown[];
  readonly staticSummary?: string;
}

/** Returns null for a batch that its night starts again. */
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
  // Equals the rule in `workflows/invoice-batch.ts`; the next run has no parent.
  const first = input.resumed === true ? 'none' : parent ? 'drop' : 'person';
  const order = isBegun ? 'restart' : (before.order ?? first);
  const sha256 = batch?.sha256 ?? before.sha256 ?? null;
  return {
    type: 'invoiceBatch',
    args: [input, { sha256, order, replaces, asked } satisfies EarlierRun],
    staticSummary: input.file,
  };
}

/** The choice of a retry that has begun is in the ledger, so its batch continues like any other. */
function inputOf(batch: BatchRecord | null, { batch: batchId, ledgerId }: RetryInput): BatchInput {
  return { file: batch?.file ?? batchId, ...(ledgerId !== undefined && { ledgerId }) };
}

interface Payloads {
  readonly payloads?: readonly Parameters<typeof defaultPayloadConverter.fromPayload>[0][] | null;
}

/**
 * Reads a run's history, because the run has already answered the updates in it. `parent`: another workflow has started it. `isBegun`: its first
 * step has ended, so that its task is in the ledger. `asked`: requests to the run, except retries that are in the ledger.
 */
async function readRun(client: Client, { workflowId, runId }: { workflowId: string; runId: string }) {
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
  // The run takes retries up in the order of their requests.
  const isTaken = ({ name }: AskedOfRun): boolean => name === 'retryInvoices' && taken-- > 0;
  return {
    args,
    parent: Boolean(started?.parentWorkflowExecution),
    isBegun,
    asked: asked.filter((one) => !isTaken(one)),
  };
}

function valuesOf(input: Payloads | null | undefined): readonly unknown[] {
  return (input?.payloads ?? []).map((payload) => defaultPayloadConverter.fromPayload(payload));
}
