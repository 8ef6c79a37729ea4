import { waitingFor } from '../../platform/waiting-for.ts';
import { LoteError } from '../../domain/errors.ts';
import { givenOnly } from '../../domain/given-only.ts';
import { type RetryState, RETRY_STATES } from '../../domain/retry-decision.ts';
import type { ReconciliationResult, RetryRequestInput } from '../../domain/messages/messages.ts';
import { createBatchOperator, retryBatch } from '../../app/operator/operate-batch.ts';
import { startReconciliation } from '../../app/schedules/reconciliation-schedule.ts';
import { EXIT, type ExitCode } from '../output/exit-codes.ts';
import { printResults } from '../output/summary-table.ts';
import { lineWriter, printResult } from '../output/terminal-text.ts';
import { awaitRun, followBatch } from '../session/follow-batches.ts';
import { requireBatch } from '../session/open-session.ts';
import { withWork, type WorkSession } from '../session/work-session.ts';

interface RetryCommand {
  readonly batch: string;
  readonly ref?: readonly string[];
  readonly state?: readonly RetryState[];
  readonly row?: readonly number[];
  readonly reason?: string;
  readonly who?: string;
  readonly acceptDuplicateRisk: boolean;
  readonly json: boolean;
}

/** `lote retry BATCH`: sends failed, rejected and held invoices again, and unknown ones if named by reference or row. Ends like `run`. */
export async function retryCommand(env: NodeJS.ProcessEnv, command: RetryCommand): Promise<ExitCode> {
  const { batch: batchId, json } = command;
  if (command.acceptDuplicateRisk && command.reason === undefined) {
    throw new LoteError(
      'usage',
      'Accepting the risk of a duplicate needs a reason that can be read later: --reason "why". Nothing was sent.',
    );
  }
  return withWork({ json, env }, async (session) => {
    await batchOf(session, batchId);
    const request = await requestOf(session, command);
    const place = { ...session, taskQueue: session.config.taskQueue };
    const result = await retryBatch(place, batchId, request, (workflowId, joined) => {
      if (joined)
        process.stderr.write(`The batch is running; ${workflowId} takes them up when its pages have ended.\n`);
      return followBatch(session, batchId, workflowId);
    });
    for (const [refusal, invoices] of Object.entries(result.retried?.refused ?? {}))
      process.stderr.write(
        `Not retried: ${invoices} ${invoices === 1 ? 'invoice' : 'invoices'}: ${NOT_RETRIED[refusal] ?? refusal}.\n`,
      );
    return printResults([result], json);
  });
}

const NOT_RETRIED: Readonly<Record<string, string>> = {
  'state-not-retryable': 'are in a state that is not retried',
  'generations-spent': 'have been sent as often as retry.maxGenerations of the service profile allows',
  'needs-accept-duplicate-risk': 'could be issued twice; --accept-duplicate-risk sends them all the same',
  'owned-by-running-batch': 'belong to another batch that is running',
  'total-unconfirmed':
    'wait until the unusual total of their file is confirmed: run or drop the file again, which asks about it, then lote confirm-total BATCH',
};

/** Returns a batch that the ledger must know, unless the session ends first. */
function batchOf({ operations, ended }: WorkSession, batchId: string) {
  return Promise.race([waitingFor('the ledger', () => requireBatch(operations, batchId)), ended]);
}

async function requestOf(session: WorkSession, command: RetryCommand): Promise<RetryRequestInput> {
  const { batch, ref: refs = [], state, who, acceptDuplicateRisk, reason = 'lote retry' } = command;
  const named = refs.length === 0 ? [] : await rowsOfRefs(session, batch, refs);
  const rows = [...new Set([...(command.row ?? []), ...named])];
  return {
    reason,
    ...givenOnly({
      who,
      rows: rows.length > 0 ? rows : undefined,
      states: state ?? (rows.length > 0 ? undefined : RETRY_STATES),
      acceptDuplicateRisk: acceptDuplicateRisk || undefined,
    }),
  };
}

/**
 * Returns the file's rows for references: a reference never goes into Temporal's history, but a row number may.
 * @throws LoteError `usage` naming how many references the batch does not have
 */
async function rowsOfRefs(
  { operations }: WorkSession,
  batchId: string,
  refs: readonly string[],
): Promise<readonly number[]> {
  const found = await operations.rowsOfRefs({ batchId, refs: [...refs] });
  const missing = refs.filter((ref) => !found.some((one) => one.ref === ref));
  if (missing.length === 0) return found.flatMap(({ rows }) => rows);
  throw new LoteError(
    'usage',
    `Retrying by reference: each must be one of batch ${batchId}, but ${missing.length} of ${refs.length} are not: ${missing.slice(0, 5).join(', ')}. Nothing was sent.`,
  );
}

interface ConfirmTotalCommand {
  readonly batch: string;
  readonly invoices: number;
  readonly reason: string;
  readonly who?: string;
  readonly json: boolean;
}

/** `lote confirm-total BATCH`: sends a batch that is held because of its total. Ends like `run`. */
export async function confirmTotalCommand(
  env: NodeJS.ProcessEnv,
  { batch: batchId, invoices, reason, who, json }: ConfirmTotalCommand,
): Promise<ExitCode> {
  return withWork({ json, env }, async (session) => {
    const { workflowId } = await batchOf(session, batchId);
    const operate = createBatchOperator({ client: session.client, taskQueue: session.config.taskQueue });
    const answer = await operate(workflowId, { kind: 'confirmTotal', invoices, reason }, who);
    process.stderr.write(`${answer}\n`);
    return printResults([await followBatch(session, batchId, workflowId)], json);
  });
}

/** Formats the output of `lote reconcile`: its results, line by line, and why something was left. */
export function reconciliationText(result: ReconciliationResult): string {
  const { repeated, found, asked, settled, orphans, stopped, reports, serviceAway, profileFoundWrong } = result;
  const closed = `Batches without a run closed ${orphans.length}: ${orphans.join(', ')}. Read their reports.`;
  const left = `Stopped batches with unknown invoices ${stopped.length}: ${stopped.join(', ')}. None of them was repeated: run the file again, or retry the invoices by --ref, to continue.`;
  const why = profileFoundWrong
    ? 'The rest was not asked for: the service profile was found to be wrong, and `lote status` says how. Correct it and start Lote again.'
    : 'The service did not answer; the rest waits for the next time.';
  return [
    ...(orphans.length === 0 ? [] : [closed]),
    ...(stopped.length === 0 ? [] : [left]),
    `Unknown invoices repeated ${repeated}, of them found ${found}`,
    `Documents asked for ${asked}, of them settled ${settled}`,
    `Reports written again ${reports.length}${reports.length === 0 ? '' : `: ${reports.join(', ')}`}`,
    ...(serviceAway ? [why] : []),
    '',
  ].join('\n');
}

/** `lote reconcile`: settles now what batches left open, whether it is due or not. */
export async function reconcileCommand(env: NodeJS.ProcessEnv, command: { readonly json: boolean }): Promise<ExitCode> {
  const { json } = command;
  return withWork({ json, env }, async ({ client, config, ledgerId, ended }) => {
    const starting = () => Promise.race([startReconciliation(client, config, ledgerId), ended]);
    const run = await waitingFor('Temporal', starting);
    const notify = lineWriter({ json });
    const result = await awaitRun(run, ended, (reason) => notify(`${run.workflowId}: ${reason}`));
    printResult(json, { reconciliation: result }, () => reconciliationText(result));
    return result.serviceAway ? EXIT.unreachable : EXIT.ok;
  });
}
