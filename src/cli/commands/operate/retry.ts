import { commandLine, type CommandReader } from '../../../domain/text/command-line.ts';
import { LoteError } from '../../../domain/errors.ts';
import type { RetryState } from '../../../domain/retry-decision.ts';
import { RETRY_STATES } from '../../../domain/retry-decision.ts';
import type { BatchResult, RetryRequestInput } from '../../../contract/messages.ts';
import { retryInRun, retryWorkflowId, runWithBatch, startRetry } from '../../../wiring/operator/retry-batch.ts';
import { namedInput } from '../../../wiring/temporal/named-input.ts';
import type { ExitCode } from '../../output/exit-codes.ts';
import { printResults } from '../../output/print-results.ts';
import { rowsOfRefs } from '../../session/rows-of-refs.ts';
import { waitForBatch } from '../../session/wait-for-batch.ts';
import { withBackend, type Backend } from '../../session/with-backend.ts';

export interface RetryCommand {
  readonly batchId: string;
  readonly refs: readonly string[];
  readonly states: readonly RetryState[];
  readonly rows: readonly number[];
  readonly reason: string | null;
  readonly who: string | null;
  readonly acceptDuplicateRisk: boolean;
  /** `--application`; left out: there is one. */
  readonly application?: string;
  readonly json: boolean;
  readonly env: NodeJS.ProcessEnv;
}

/** `lote retry BATCH`: failed, rejected and held invoices go again, unknown ones by reference or row. Ends like `run`. */
export async function retryCommand(command: RetryCommand): Promise<ExitCode> {
  if (command.acceptDuplicateRisk && command.reason === null) {
    throw new LoteError(
      'usage',
      'Accepting the risk of a duplicate needs a reason that can be read later: --reason "why". Nothing was sent.',
    );
  }
  return withBackend(command, async (backend) => {
    await Promise.race([backend.workflowOf(command.batchId), backend.ended]);
    const request = await requestOf(backend, command);
    const result = await retryOrUpdate(backend, command.batchId, request);
    printRefused(result, backend.config);
    return printResults([result], command.json);
  });
}

async function requestOf(backend: Backend, command: RetryCommand): Promise<RetryRequestInput> {
  const { batchId, refs, states, who, acceptDuplicateRisk } = command;
  const named = refs.length === 0 ? [] : await rowsOfRefs(backend, batchId, refs);
  const rows = [...new Set([...command.rows, ...named])];
  return {
    ...(rows.length > 0 ? { rows } : {}),
    ...(states.length > 0 ? { states } : rows.length > 0 ? {} : { states: RETRY_STATES }),
    reason: command.reason ?? 'lote retry',
    ...(who === null ? {} : { who }),
    ...(acceptDuplicateRisk ? { acceptDuplicateRisk } : {}),
  };
}

/** A run of its own for a finished batch; for one that runs, an update to its run, and then the wait for that. */
async function retryOrUpdate(backend: Backend, batchId: string, request: RetryRequestInput): Promise<BatchResult> {
  const own = await startRetry(
    {
      ...backend,
      taskQueue: backend.config.taskQueue,
      applicationOf: async () => namedInput(backend.config).application ?? null,
    },
    batchId,
    request,
  );
  if (own === null) return updateAndWait(backend, retryWorkflowId(batchId), { batchId, request });
  try {
    return await waitForBatch(backend, batchId, own);
  } catch (error) {
    const running = runWithBatch(error);
    if (running === null) throw error;
    return updateAndWait(backend, running, { batchId, request });
  }
}

async function updateAndWait(
  backend: Backend,
  running: string,
  { batchId, request }: { readonly batchId: string; readonly request: RetryRequestInput },
): Promise<BatchResult> {
  await retryInRun({ client: backend.client, taskQueue: backend.config.taskQueue }, running, request);
  process.stderr.write(`The batch is running; ${running} takes them up when its pages have ended.\n`);
  return waitForBatch(backend, batchId, running);
}

const WHY: Readonly<Record<string, (reader: CommandReader) => string>> = {
  'state-not-retryable': () => 'are in a state that is not retried',
  'generations-spent': () => 'have been sent as often as retry.maxGenerations of the service profile allows',
  'needs-accept-duplicate-risk': () => 'could be issued twice; --accept-duplicate-risk sends them all the same',
  'owned-by-running-batch': () => 'belong to another batch that is running',
  'total-unconfirmed': (reader) =>
    `wait until the unusual total of their file is confirmed: run or drop the file again, which asks about it, then ${commandLine(reader, 'confirm-total BATCH')}`,
};

function printRefused({ retried }: BatchResult, reader: CommandReader): void {
  for (const [refusal, invoices] of Object.entries(retried?.refused ?? {})) {
    process.stderr.write(
      `Not retried: ${invoices} ${invoices === 1 ? 'invoice' : 'invoices'}: ${WHY[refusal]?.(reader) ?? refusal}.\n`,
    );
  }
}
