import { ApplicationFailure, log, setHandler, type SignalDefinition } from '@temporalio/workflow';
import type { BatchInput, RetryInput, RetryRequestInput } from '../src/domain/messages/messages.ts';
import { RETRY_STATES } from '../src/domain/retry-decision.ts';

/**
 * Returns whether a value has the members of an example, each of the same type. A number in an example is the least
 * whole number that fits; null allows a text, null or undefined; a list allows any length with items like its own.
 */
function isLike(value: unknown, example: unknown): boolean {
  if (example === null) return value === null || value === undefined || typeof value === 'string';
  if (typeof example === 'number') return Number.isSafeInteger(value) && Number(value) >= example;
  if (typeof example !== 'object') return typeof value === typeof example;
  if (Array.isArray(example)) return Array.isArray(value) && value.every((item) => isLike(item, example[0]));
  if (typeof value !== 'object' || value === null) return false;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.entries(example).every(([name, member]) => isLike(given[name], member));
}

/**
 * Registers the handler of a signal. The handler ignores an input that is unlike the example: an error would fail every
 * later task of the run, because the signal stays in the history.
 */
export function onSignal<Input>(
  signal: SignalDefinition<[Input]>,
  example: Readonly<Record<keyof Input, unknown>>,
  handle: (input: Input) => void | Promise<void>,
  description: string,
): void {
  const handler = (input: Input): void | Promise<void> => {
    if (isLike(input, example)) return handle(input);
    log.warn('a signal with an input that is not its own is passed over', { signal: signal.name });
  };
  setHandler(signal, handler, { description: `(internal) ${description}` });
}

/** Ends a run of an internal workflow that a person has started with a wrong input. Without this check, an error would repeat the workflow's task for ever. */
export function requireOwnInput(workflow: string, input: unknown, example: Readonly<Record<string, unknown>>): void {
  if (isLike(input, example)) return;
  throw ApplicationFailure.nonRetryable(
    `${workflow} is started by Lote itself, with an input that no person types. To send a file, start invoiceBatch with {"file": "sample.csv"}`,
    'input-invalid',
  );
}

/** Returns whether a value is a text with more than spaces. */
export function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Returns who acts; undefined if the input has no such text. */
export function actorOf(input: { readonly who?: unknown } | null | undefined): string | undefined {
  const who = input?.who;
  return typeof who === 'string' ? who : undefined;
}

/** Creates a validator's error without a stack, because the Temporal UI would show the stack with paths of the source code. */
export function refusedUpdate(message: string): ApplicationFailure {
  const failure = ApplicationFailure.nonRetryable(message, 'input-invalid');
  delete failure.stack;
  return failure;
}

/** A check of a field's value, and the words that a refusal uses for the right value. */
export type FieldRule = readonly [is: (value: unknown) => boolean, must: string];

/** The rule of each field of an input. */
export type FieldRules<Input> = Readonly<Record<keyof Input, FieldRule>>;

/** A text that is not empty. */
export const TEXT: FieldRule = [(value) => typeof value === 'string' && value !== '', 'a text'];
/** True or false. */
export const FLAG: FieldRule = [(value) => typeof value === 'boolean', 'true or false'];

/** Allows one of these words. */
function oneOf(...words: readonly string[]): FieldRule {
  return [(value) => words.includes(value as string), words.map((word) => JSON.stringify(word)).join(' or ')];
}

/**
 * Returns the fault of an input that a person typed, in a sentence that names the field, or null. Refuses a name
 * without a rule, because a mistyped name would be ignored in silence. A field may be left out or null.
 */
function problemOfFields(workflow: string, input: object, rules: Readonly<Record<string, FieldRule>>): string | null {
  const known = new Map(Object.entries(rules));
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || value === null) continue;
    const rule = known.get(name);
    if (rule === undefined)
      return `${workflow} knows no field ${JSON.stringify(name)}; there are ${[...known.keys()].join(', ')}.`;
    const [is, must] = rule;
    if (!is(value)) return `${workflow}: "${name}" must be ${must}, found ${JSON.stringify(value)}.`;
  }
  return null;
}

/**
 * Checks and returns the input of a workflow that needs none.
 * @throws ApplicationFailure `input-invalid` with the example, if the input is wrong
 */
export function optionalInput<Input extends object>(
  workflow: string,
  input: Input | null | undefined,
  rules: FieldRules<Input>,
  example: string,
): Partial<Input> {
  const isObject = typeof (input ?? {}) === 'object' && !Array.isArray(input);
  const problem = isObject ? problemOfFields(workflow, input ?? {}, rules) : `${workflow} needs no input.`;
  if (problem === null) return input ?? {};
  throw ApplicationFailure.nonRetryable(`${problem} Start it again with {}, or ${example}`, 'input-invalid');
}

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

/** Fails the run at once, with a sentence that helps, if its input is wrong. An empty input in the Temporal UI arrives as null or undefined. */
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
/** Allows any `reason` and `who`, which other functions check. A name without a rule is refused: a mistyped `row` would send the whole batch again. */
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

/** Refuses a wrong request of an operator at once, in one sentence. */
export function requireRetryRequest(input: RetryRequestInput | null | undefined): void {
  const problem = isFilled(input?.reason)
    ? (problemOfFields('A retry', input ?? {}, RETRY_FIELDS) ?? (isForAll(input) ? NEEDS_SELECTION : null))
    : NEEDS_REASON;
  if (problem !== null) throw refusedUpdate(`${problem} ${RETRY_EXAMPLE}`);
}

/** Returns the request. A batch alone selects everything failed, rejected or held, as `lote retry BATCH` does. */
export function retryRequestOf(input: RetryInput | null | undefined): RetryRequestInput {
  const problem = problemOfStart(input);
  if (problem !== null) throw ApplicationFailure.nonRetryable(`${problem} ${WORKFLOW_EXAMPLE}`, 'input-invalid');
  const { batch: _, ledgerId: __, ...request } = input as RetryInput;
  const all = isForAll(request) ? { states: RETRY_STATES } : {};
  return withActor({ ...request, ...all, reason: request.reason ?? NO_REASON });
}

/** Removes a name that is no text. */
export function withActor(request: RetryRequestInput): RetryRequestInput {
  const { who: _, ...rest } = request;
  const who = actorOf(request);
  return who === undefined ? rest : { ...rest, who };
}

function problemOfStart(input: RetryInput | null | undefined): string | null {
  if (!isFilled(input?.batch)) return 'retryInvoices needs the id of a batch.';
  const { reason, states, rows } = input ?? {};
  if (!isFilled(reason ?? NO_REASON)) return NEEDS_REASON;
  // An empty list of rows selects no rows, not the whole batch.
  const isNone = (states ?? rows ?? null) !== null && isForAll(input);
  return problemOfFields('A retry', input ?? {}, START_FIELDS) ?? (isNone ? NEEDS_SELECTION : null);
}

/** True if no invoices are selected. */
function isForAll(input: Pick<RetryRequestInput, 'states' | 'rows'> | null | undefined): boolean {
  return (input?.states ?? []).length === 0 && (input?.rows ?? []).length === 0;
}
