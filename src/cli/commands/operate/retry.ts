import { waitingFor } from '../../../platform/waiting-for.ts';
import { LoteError } from '../../../domain/errors.ts';
import { givenOnly } from '../../../domain/given-only.ts';
import { type RetryState, RETRY_STATES } from '../../../domain/retry-decision.ts';
import type { BatchResult, RetryRequestInput } from '../../../domain/messages/messages.ts';
import { retryBatch } from '../../../app/operator/retry-batch.ts';
import type { ExitCode } from '../../output/exit-codes.ts';
import { printResults } from '../../output/summary-table.ts';
import { requireBatch, type Session } from '../../session/open-session.ts';
import { followBatch } from '../../session/follow-batches.ts';
import { withWork, type WorkSession } from '../../session/work-session.ts';

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
    const known = waitingFor('the ledger', () => requireBatch(session.operations, batchId));
    await Promise.race([known, session.ended]);
    const request = await requestOf(session, command);
    const place = { ...session, taskQueue: session.config.taskQueue };
    const result = await retryBatch(place, batchId, request, (workflowId, joined) => {
      if (joined)
        process.stderr.write(`The batch is running; ${workflowId} takes them up when its pages have ended.\n`);
      return followBatch(session, batchId, workflowId);
    });
    printRefused(result);
    return printResults([result], json);
  });
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
export async function rowsOfRefs(
  { operations }: Pick<Session, 'operations'>,
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

const WHY: Readonly<Record<string, string>> = {
  'state-not-retryable': 'are in a state that is not retried',
  'generations-spent': 'have been sent as often as retry.maxGenerations of the service profile allows',
  'needs-accept-duplicate-risk': 'could be issued twice; --accept-duplicate-risk sends them all the same',
  'owned-by-running-batch': 'belong to another batch that is running',
  'total-unconfirmed':
    'wait until the unusual total of their file is confirmed: run or drop the file again, which asks about it, then lote confirm-total BATCH',
};

function printRefused({ retried }: BatchResult): void {
  for (const [refusal, invoices] of Object.entries(retried?.refused ?? {})) {
    process.stderr.write(
      `Not retried: ${invoices} ${invoices === 1 ? 'invoice' : 'invoices'}: ${WHY[refusal] ?? refusal}.\n`,
    );
  }
}
