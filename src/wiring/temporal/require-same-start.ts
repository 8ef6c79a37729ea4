import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { LoteError } from '../../domain/errors.ts';
import type { BatchInput } from '../../contract/messages.ts';

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
export async function requireSameStart(
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
