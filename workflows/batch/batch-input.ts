import { ApplicationFailure } from '@temporalio/workflow';
import type { BatchInput } from '../../src/contract/messages.ts';
import { FLAG, oneOf, problemOfFields, TEXT, type FieldRules } from '../input-fields.ts';

const EXAMPLE = 'Start it again with this input: {"file": "sample.csv"}';

const FIELDS: FieldRules<BatchInput> = {
  file: TEXT,
  ledgerId: TEXT,
  application: TEXT,
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
  const problem = problemOf(input);
  if (problem !== null) throw ApplicationFailure.nonRetryable(`${problem} ${EXAMPLE}`, 'input-invalid');
}

function problemOf(input: BatchInput | null | undefined): string | null {
  if (typeof input !== 'object' || input === null || typeof input.file !== 'string' || input.file.trim() === '')
    return 'invoiceBatch needs the name of a file in the input directory.';
  return problemOfFields('invoiceBatch', input, FIELDS);
}

function isAmounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const amounts = Object.entries(value);
  return (
    amounts.length > 0 && amounts.every(([currency, net]) => /^[A-Z]{3}$/.test(currency) && typeof net === 'string')
  );
}
