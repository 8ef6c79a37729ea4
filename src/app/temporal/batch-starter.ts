import {
  ScheduleNotFoundError,
  type Client,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { batchIdOf } from '../../domain/messages/batch-id.ts';
import type { RunDirectory } from '../../../activities/deps.ts';
import { hashFile } from '../../ingest/file-chunks.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchInput } from '../../domain/messages/messages.ts';
import { requireOwnRun } from './own-run.ts';
import { resolveInput } from '../files/input-files.ts';
import type { BatchStop } from '../../domain/records/batch-record.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { defaultPayloadConverter } from '@temporalio/common';
import { LoteError } from '../../domain/errors.ts';
import { GRPC_STATUS } from './calls.ts';

export interface StartPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  readonly inputDir: string;
}

/** Handle of a batch's workflow run. */
export type BatchHandle = WorkflowHandle<typeof invoiceBatch>;

/** The batch that a file is, or becomes when it is started: before that, an act can be written down for it. */
export async function batchOfFile(
  { application, inputDir }: Pick<StartPlace, 'application' | 'inputDir'>,
  ledger: Pick<Ledger, 'batchOfFile'>,
  file: string,
): Promise<{ batchId: string; sha256: string }> {
  const sha256 = await hashFile(await resolveInput(inputDir, file));
  const known = await ledger.batchOfFile(application, sha256);
  return { batchId: known?.batchId ?? batchIdOf(application, file, sha256), sha256 };
}

/**
 * Starts a batch under the id that its bytes give it, or joins the run that has this id already.
 * @throws LoteError `ledger-foreign` when that is the run of another installation, which shares the namespace; `usage` when that run was started with
 * other options; the reason of `over`, and nothing is started then
 */
export async function startBatch(
  place: StartPlace,
  input: BatchInput,
  over?: AbortSignal,
): Promise<{ batchId: string; handle: BatchHandle }> {
  const sha256 = await hashFile(await resolveInput(place.inputDir, input.file), over);
  over?.throwIfAborted();
  const batchId = batchIdOf(place.application, input.file, sha256);
  const handle = await place.client.workflow.start<typeof invoiceBatch>('invoiceBatch', {
    workflowId: batchId,
    taskQueue: place.taskQueue,
    args: [input],
    staticSummary: input.file,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
  });
  const run = await requireOwnRun(place, batchId, `Starting the batch of ${JSON.stringify(input.file)}`);
  await requireSameStart(place.client, run, input);
  return { batchId, handle };
}

/** Asks Temporal whether the run that holds a batch is open; one whose workflow Temporal does not know any more is not. */
export function createRunDirectory(client: Client): RunDirectory {
  return {
    async isOpen(workflowId, runId, asker) {
      if (runId === asker) return false;
      if ((await describe(workflowId, runId))?.status.name === 'RUNNING') return true;
      const latest = await describe(workflowId);
      return latest?.status.name === 'RUNNING' && latest.runId !== asker;
    },
    async isSwitchedOff(workflowId, runId) {
      const run = await describe(workflowId, runId);
      const schedule = run?.searchAttributes['TemporalScheduledById']?.[0];
      if (run === null || typeof schedule !== 'string') return false;
      return client.schedule
        .getHandle(schedule)
        .describe()
        .then(
          // One that is younger than the run was made when nights were switched on again.
          ({ info }) => info.createdAt > run.startTime,
          (error: unknown) => {
            if (error instanceof ScheduleNotFoundError) return true;
            throw error;
          },
        );
    },
    temporalId: () => temporalIdOf(client),
    async stopOf({ workflowId, runId, temporalId }) {
      const asked = await describe(workflowId, runId);
      for (const run of [asked, await describe(workflowId)]) {
        if (run?.status.name === 'TERMINATED' || run?.status.name === 'CANCELLED') return stopOf(client, run);
      }
      if (asked !== null || temporalId === null) return null;
      const now = await temporalIdOf(client);
      // A caller that may not ask for it any more cannot tell a removed run from a lost one.
      const isRemoved = now === null || now === temporalId;
      return isRemoved ? { what: 'deleted', at: Date.now(), who: null, why: null } : null;
    },
  };

  async function describe(workflowId: string, runId?: string): Promise<WorkflowExecutionDescription | null> {
    try {
      return await client.workflow.getHandle(workflowId, runId).describe();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }
}

/** As the operator's words stand in the history of the run. */
async function stopOf(client: Client, run: WorkflowExecutionDescription): Promise<BatchStop> {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const terminated = events?.at(-1)?.workflowExecutionTerminatedEventAttributes;
  const cancelled = events?.find(
    ({ workflowExecutionCancelRequestedEventAttributes: found }) => found,
  )?.workflowExecutionCancelRequestedEventAttributes;
  return {
    what: run.status.name === 'TERMINATED' ? 'terminated' : 'cancelled',
    at: run.closeTime?.getTime() ?? Date.now(),
    who: (terminated ?? cancelled)?.identity || null,
    why: terminated?.reason || cancelled?.cause || null,
  };
}

/** How a run may be started, but for which file, ledger and application it is. */
const DECLARED = [
  ...['onInvalid', 'decimal', 'encoding', 'delimiter', 'sheet', 'duplicateRows', 'lookAlikes'],
  ...['profile', 'expectInvoices', 'expectNet', 'acceptDuplicateRisk'],
] as readonly (keyof BatchInput)[];

/** What counts where a start does not say it. */
const DEFAULTS: Partial<BatchInput> = {
  ...{ onInvalid: 'skip', duplicateRows: 'refuse', lookAlikes: 'refuse', acceptDuplicateRisk: false },
};

/**
 * Refuses to join an open run that was started otherwise than it is asked for now: the run goes on as it was started. What is not declared now is not compared.
 * @throws LoteError `usage`
 */
async function requireSameStart(
  client: Client,
  run: { readonly workflowId: string; readonly runId: string },
  asked: BatchInput,
): Promise<void> {
  const declared = DECLARED.filter((name) => asked[name] !== undefined);
  if (declared.length === 0) return;
  const first = await inputOf(client, run);
  const wordOf = (input: BatchInput, name: keyof BatchInput): string =>
    JSON.stringify(input[name] ?? DEFAULTS[name] ?? null);
  const others = declared.filter((name) => wordOf(asked, name) !== wordOf(first, name));
  if (others.length === 0) return;
  const found = others.map((name) => `${name} ${wordOf(first, name)} instead of ${wordOf(asked, name)}`).join(', ');
  throw new LoteError(
    'usage',
    `Starting the batch of ${JSON.stringify(asked.file)}: its run ${run.workflowId} is open and must have been started with these options to be joined, found ${found}. It goes on as it was started, and nothing was changed. ` +
      'Start the file with the options of that run, or with none, to follow it; otherwise stop the rest of it, and start again when it has ended.',
  );
}

/** As the first event of a run has it. */
async function inputOf(
  client: Client,
  execution: { readonly workflowId: string; readonly runId: string },
): Promise<BatchInput> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    ...{ namespace: client.options.namespace, execution, maximumPageSize: 1 },
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const input = payload === undefined ? null : defaultPayloadConverter.fromPayload<unknown>(payload);
  // A run that was started by hand without an input has none of these.
  return typeof input === 'object' && input !== null ? (input as BatchInput) : { file: '' };
}

/** Its caller has other things to do. */
const PATIENCE_MS = 5_000;

/** By a server, or what stands before it, that does not answer this question to this client. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  GRPC_STATUS.permissionDenied,
  GRPC_STATUS.unimplemented,
  GRPC_STATUS.unauthenticated,
]);

/**
 * Tells one database of Temporal from another: the UUID that the namespace of the client got when it was registered. A new namespace, and the same one on an empty
 * server, has another one. Null: the server does not tell it to this client.
 * @throws what the connection says, also where there is no answer within 5 s
 */
async function temporalIdOf(client: Client): Promise<string | null> {
  const { namespace } = client.options;
  try {
    const ask = () => client.workflowService.describeNamespace({ namespace });
    const { namespaceInfo } = await client.withDeadline(Date.now() + PATIENCE_MS, ask);
    return namespaceInfo?.id || null;
  } catch (error) {
    if (REFUSALS.has((error as { readonly code?: unknown } | null)?.code)) return null;
    throw error;
  }
}
