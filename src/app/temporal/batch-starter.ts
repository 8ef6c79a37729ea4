import type { Client, WorkflowHandle } from '@temporalio/client';
import { batchIdOf, entryQueue } from '../../domain/messages/batch-id.ts';
import { hashFile } from '../../ingest/file-chunks.ts';
import type { invoiceBatch } from '../../../workflows/invoice-batch.ts';
import type { BatchInput } from '../../domain/messages/messages.ts';
import { resolveInput } from '../files/input-files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { defaultPayloadConverter } from '@temporalio/common';
import { LoteError } from '../../domain/errors.ts';

export interface StartPlace {
  readonly client: Client;
  readonly taskQueue: string;
  readonly application: string;
  readonly inputDir: string;
}

/** Handle of a batch's workflow run. */
export type BatchHandle = WorkflowHandle<typeof invoiceBatch>;

/** Returns the batch id of a file, also before its start, so that an action can be recorded for it. */
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
 * Starts a batch under the id of its bytes, or joins the run that already has this id.
 * @throws LoteError `ledger-foreign` when another installation in the namespace has that run; `usage` when that run has
 * other options; the reason of `over`, and then nothing is started
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

/** An installation; several in one namespace have different task queues. */
export type OwnPlace = Pick<StartPlace, 'client' | 'taskQueue'>;

interface RunId {
  readonly workflowId: string;
  readonly runId: string;
}

/**
 * Refuses a run of another installation that shares the namespace and has the same file, because its invoices are not
 * those that this installation has read. Returns the run that has this id now.
 * @throws LoteError `ledger-foreign`; WorkflowNotFoundError when there is no such run
 */
export async function requireOwnRun(
  { client, taskQueue }: OwnPlace,
  workflowId: string,
  attempted: string,
): Promise<RunId> {
  const run = await client.workflow.getHandle(workflowId).describe();
  if (entryQueue(run.taskQueue) === taskQueue) return { workflowId, runId: run.runId };
  throw new LoteError(
    'ledger-foreign',
    `${attempted}: its run must work on task queue ${taskQueue}, but ${workflowId} runs on ${run.taskQueue}. ` +
      'Nothing was sent or changed from here. Where this is the same installation, set the same LOTE_TASK_QUEUE. Otherwise try again when that run has ended, ' +
      `and give each installation a namespace of its own (TEMPORAL_NAMESPACE; now both have ${client.options.namespace}).`,
  );
}

/** Start options that a run keeps, with the values of those that a start omits. */
const OPTIONS: Partial<Record<keyof BatchInput, unknown>> = {
  ...{ onInvalid: 'skip', decimal: null, encoding: null, delimiter: null, sheet: null, duplicateRows: 'refuse' },
  ...{ lookAlikes: 'refuse', profile: null, expectInvoices: null, expectNet: null, acceptDuplicateRisk: false },
};

/**
 * Refuses to join an open run with other options, because the run keeps its own. Omitted options are not compared.
 * @throws LoteError `usage`
 */
async function requireSameStart(client: Client, run: RunId, asked: BatchInput): Promise<void> {
  const declared = (Object.keys(OPTIONS) as (keyof BatchInput)[]).filter((name) => asked[name] !== undefined);
  if (declared.length === 0) return;
  const first = await inputOf(client, run);
  const wordOf = (input: BatchInput, name: keyof BatchInput): string => JSON.stringify(input[name] ?? OPTIONS[name]);
  const others = declared.filter((name) => wordOf(asked, name) !== wordOf(first, name));
  if (others.length === 0) return;
  const found = others.map((name) => `${name} ${wordOf(first, name)} instead of ${wordOf(asked, name)}`).join(', ');
  throw new LoteError(
    'usage',
    `Starting the batch of ${JSON.stringify(asked.file)}: its run ${run.workflowId} is open and must have been started with these options to be joined, found ${found}. It goes on as it was started, and nothing was changed. ` +
      'Start the file with the options of that run, or with none, to follow it; otherwise stop the rest of it, and start again when it has ended.',
  );
}

/** Returns the input from the first event of a run. */
async function inputOf(client: Client, execution: RunId): Promise<BatchInput> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    ...{ namespace: client.options.namespace, execution, maximumPageSize: 1 },
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  const input = payload === undefined ? null : defaultPayloadConverter.fromPayload<unknown>(payload);
  // A run that a person started without an input has no options.
  return typeof input === 'object' && input !== null ? (input as BatchInput) : { file: '' };
}
