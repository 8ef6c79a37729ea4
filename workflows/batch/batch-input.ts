import { ApplicationFailure } from '@temporalio/workflow';
import type { BatchInput, RetryInput, RetryRequestInput } from '../../src/domain/messages/messages.ts';
import {
  actorOf,
  FLAG,
  isFilled,
  oneOf,
  problemOfFields,
  refusedUpdate,
  TEXT,
  type FieldRules,
  type FieldRule,
} from '../typed-by-hand.ts';
import { RETRY_STATES } from '../../src/domain/retry-decision.ts';

const EXAMPLE = 'Start it again with this input: {"file": "sample.csv"}';

const FIELDS: FieldRules<BatchInput> = {
  file: TEXT,
  ledgerId: TEXT,
  onInvalid: oneOf('skip', 'hold'),
  decimal: oneOf(',', '.'),
  encoding: TEXT,
  delimiter: TEXT,
  sheet: TEXT,
  duplicateRows: oneOf('refuse', 'keep'),
  lookAlikes: oneOf('refuse', 'keep'),
  profile: TEXT,
  expectInvoices: [(value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number'],
  acceptDuplicateRisk: FLAG,
  resumed: FLAG,
  expectNet: [isAmounts, 'amounts by currency, as texts: {"EUR": "15321.40"}'],
};

/** Empty input in the Temporal UI arrives as null or undefined: it must fail at once with the sentence that helps. */
export function requireBatchInput(input: BatchInput | null | undefined): void {
  const problem = isFilled(input?.file)
    ? problemOfFields('invoiceBatch', input ?? {}, FIELDS)
    : 'invoiceBatch needs the name of a file in the input directory.';
  if (problem !== null) throw ApplicationFailure.nonRetryable(`${problem} ${EXAMPLE}`, 'input-invalid');
}

function isAmounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const amounts = Object.entries(value);
  return (
    amounts.length > 0 && amounts.every(([currency, net]) => /^[A-Z]{3}$/.test(currency) && typeof net === 'string')
  );
}

const RETRY_EXAMPLE = 'Example: {"states": ["failed"], "reason": "the tax engine is back"}';
const WORKFLOW_EXAMPLE =
  'Start it again with this input: {"batch": "batch-sample-1a2b3c4d"}, or with states or rows as well: {"batch": "…", "states": ["failed"], "rows": [7], "reason": "why"}';
const ANYTHING: FieldRule = [() => true, 'anything'];
/** The reason has a sentence of its own, and `who` may be anything. A mistyped `row` would let the whole batch go again. */
const RETRY_FIELDS: FieldRules<RetryRequestInput> = {
  states: [
    (value) => Array.isArray(value) && value.every((state) => RETRY_STATES.includes(state)),
    `a list of ${RETRY_STATES.join(', ')} (unknown invoices go by "rows" alone)`,
  ],
  rows: [
    (value) => Array.isArray(value) && value.every((row) => Number.isSafeInteger(row) && row > 0),
    'a list of row numbers of the file',
  ],
  reason: ANYTHING,
  who: ANYTHING,
  acceptDuplicateRisk: FLAG,
};
const START_FIELDS: FieldRules<RetryInput> = { batch: TEXT, ...RETRY_FIELDS, ledgerId: TEXT };
const NO_REASON = 'no reason was given';
const NEEDS_REASON = 'A retry needs a "reason".';
const NEEDS_SELECTION = 'A retry needs "states" or "rows".';

/** Says at once, and in one sentence, what is wrong with what an operator typed. */
export function requireRetryRequest(input: RetryRequestInput | null | undefined): void {
  const problem = isFilled(input?.reason)
    ? (problemOfFields('A retry', input ?? {}, RETRY_FIELDS) ?? (isForAll(input) ? NEEDS_SELECTION : null))
    : NEEDS_REASON;
  if (problem !== null) throw refusedUpdate(`${problem} ${RETRY_EXAMPLE}`);
}

/** Started with a batch alone, everything failed, rejected or held goes again, as with `lote retry BATCH`. */
export function retryRequestOf(input: RetryInput | null | undefined): RetryRequestInput {
  const problem = problemOfStart(input);
  if (problem !== null) throw ApplicationFailure.nonRetryable(`${problem} ${WORKFLOW_EXAMPLE}`, 'input-invalid');
  const { batch: _, ledgerId: __, ...request } = input as RetryInput;
  const all = isForAll(request) ? { states: RETRY_STATES } : {};
  return withActor({ ...request, ...all, reason: request.reason ?? NO_REASON });
}

/** A name that is no text is no name. */
export function withActor(request: RetryRequestInput): RetryRequestInput {
  const { who: _, ...rest } = request;
  const who = actorOf(request);
  return who === undefined ? rest : { ...rest, who };
}

function problemOfStart(input: RetryInput | null | undefined): string | null {
  if (!isFilled(input?.batch)) return 'retryInvoices needs the id of a batch.';
  const { reason, states, rows } = input ?? {};
  if (!isFilled(reason ?? NO_REASON)) return NEEDS_REASON;
  // An empty list of rows means none of them, and not the whole batch.
  const isNone = (states ?? rows ?? null) !== null && isForAll(input);
  return problemOfFields('A retry', input ?? {}, START_FIELDS) ?? (isNone ? NEEDS_SELECTION : null);
}

/** No invoices are chosen. */
function isForAll(input: Pick<RetryRequestInput, 'states' | 'rows'> | null | undefined): boolean {
  return (input?.states ?? []).length === 0 && (input?.rows ?? []).length === 0;
}
