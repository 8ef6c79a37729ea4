import { ApplicationFailure } from '@temporalio/workflow';
import { RETRY_STATES } from '../../src/domain/retry-decision.ts';
import type { RetryInput, RetryRequestInput } from '../../src/contract/messages.ts';
import { hasPatch } from '../has-patch.ts';
import { FLAG, problemOfFields, TEXT, type FieldRule, type FieldRules } from '../input-fields.ts';
import { refusedUpdate } from '../refused-update.ts';
import { actorOf } from '../typed-by-hand.ts';

const EXAMPLE = 'Example: {"states": ["failed"], "reason": "the tax engine is back"}';
const WORKFLOW_EXAMPLE =
  'Start it again with this input: {"batch": "batch-sample-1a2b3c4d"}, or with states or rows as well: {"batch": "…", "states": ["failed"], "rows": [7], "reason": "why"}';
const ANYTHING: FieldRule = [() => true, 'anything'];
/** States, rows and reason have sentences of their own, and `who` may be anything. A mistyped `row` would let the whole batch go again. */
const FIELDS: FieldRules<RetryRequestInput> = {
  states: ANYTHING,
  rows: ANYTHING,
  reason: ANYTHING,
  who: ANYTHING,
  acceptDuplicateRisk: FLAG,
};
const START_FIELDS: FieldRules<RetryInput> = { batch: TEXT, ...FIELDS, ledgerId: TEXT, application: TEXT };
const NO_REASON = 'no reason was given';

/** Says at once, and in one sentence, what is wrong with what an operator typed. */
export function requireRetryRequest(input: RetryRequestInput | null | undefined): void {
  const problem =
    typeof input !== 'object' || input === null
      ? 'A retry needs a reason, and states or rows.'
      : (problemOfReason(input) ??
        problemOf(input) ??
        problemOfFields('A retry', input, FIELDS) ??
        nothingChosen(input));
  if (problem !== null) throw refusedUpdate(`${problem} ${EXAMPLE}`);
}

/** Started with a batch alone, everything failed, rejected or held goes again, as with `lote retry BATCH`. */
export function retryRequestOf(input: RetryInput | null | undefined): RetryRequestInput {
  const problem = problemOfStart(input) ?? problemOfStartNames(input);
  if (problem !== null || input === null || input === undefined)
    throw ApplicationFailure.nonRetryable(`${problem ?? ''} ${WORKFLOW_EXAMPLE}`, 'input-invalid');
  const { batch: _, ledgerId: __, application: ___, ...request } = input;
  const chosen = nothingChosen(request) === null ? {} : { states: RETRY_STATES };
  return withActor({ ...request, ...chosen, reason: request.reason ?? NO_REASON });
}

/** A name that is no text is no name. */
export function withActor(request: RetryRequestInput): RetryRequestInput {
  const { who: _, ...rest } = request;
  const who = actorOf(request);
  return who === undefined ? rest : { ...rest, who };
}

function problemOfStart(input: RetryInput | null | undefined): string | null {
  if (typeof input !== 'object' || input === null || typeof input.batch !== 'string' || input.batch.trim() === '')
    return 'retryInvoices needs the id of a batch.';
  if (input.reason !== undefined) return problemOfReason(input) ?? problemOf(input);
  return problemOf(input);
}

/** Runs that an earlier version started with such an input go on as they began. */
function problemOfStartNames(input: RetryInput | null | undefined): string | null {
  if (input === null || input === undefined) return null;
  const problem = problemOfFields('A retry', input, START_FIELDS) ?? emptySelection(input);
  return problem !== null && hasPatch('retry-names-its-fields') ? problem : null;
}

/** Whoever gives an empty list of rows means none of them, and not the whole batch. */
function emptySelection({ states, rows }: Pick<RetryRequestInput, 'states' | 'rows'>): string | null {
  return states === undefined && rows === undefined ? null : nothingChosen({ states: states ?? [], rows: rows ?? [] });
}

function problemOfReason({ reason }: { readonly reason?: unknown }): string | null {
  return typeof reason === 'string' && reason.trim() !== '' ? null : 'A retry needs a "reason".';
}

function problemOf({ states, rows }: Pick<RetryRequestInput, 'states' | 'rows'>): string | null {
  if (states !== undefined && !(Array.isArray(states) && states.every((state) => RETRY_STATES.includes(state)))) {
    return `"states" must be a list of ${RETRY_STATES.join(', ')}; unknown invoices go by "rows" alone.`;
  }
  if (rows !== undefined && !(Array.isArray(rows) && rows.every((row) => Number.isSafeInteger(row) && row > 0))) {
    return '"rows" must be a list of row numbers of the file.';
  }
  return null;
}

function nothingChosen({ states, rows }: Pick<RetryRequestInput, 'states' | 'rows'>): string | null {
  return (states ?? []).length === 0 && (rows ?? []).length === 0 ? 'A retry needs "states" or "rows".' : null;
}
