import { ApplicationFailure } from '@temporalio/workflow';
import { RETRY_STATES } from '../src/domain/retry-decision.ts';
import type { RetryRequestInput } from './messages.ts';

/** Says at once, and in one sentence, what is wrong with what an operator typed. */
export function requireRetryRequest(input: RetryRequestInput | null | undefined): void {
  const problem = problemOf(input);
  if (problem === null) return;
  const failure = ApplicationFailure.nonRetryable(
    `${problem} Example: {"states": ["failed"], "reason": "the tax engine is back"}`,
    'input-invalid',
  );
  // The UI prints the stack of a rejected update, with our source paths: of no use to an operator.
  delete failure.stack;
  throw failure;
}

function problemOf(input: RetryRequestInput | null | undefined): string | null {
  if (typeof input !== 'object' || input === null) return 'A retry needs a reason, and states or rows.';
  if (typeof input.reason !== 'string' || input.reason.trim() === '') return 'A retry needs a "reason".';
  const { states, rows } = input;
  if (states !== undefined && !(Array.isArray(states) && states.every((state) => RETRY_STATES.includes(state)))) {
    return `"states" must be a list of ${RETRY_STATES.join(', ')}; unknown invoices go by "rows" alone.`;
  }
  if (rows !== undefined && !(Array.isArray(rows) && rows.every((row) => Number.isSafeInteger(row) && row > 0))) {
    return '"rows" must be a list of row numbers of the file.';
  }
  if ((states ?? []).length === 0 && (rows ?? []).length === 0) return 'A retry needs "states" or "rows".';
  return null;
}
