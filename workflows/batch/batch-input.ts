import { ApplicationFailure } from '@temporalio/workflow';
import type { BatchInput } from '../../src/contract/messages.ts';

const EXAMPLE = 'Start it again with this input: {"file": "sample.csv"}';

type Check = readonly [is: (value: unknown) => boolean, must: string];

const text: Check = [(value) => typeof value === 'string' && value !== '', 'a text'];

function oneOf(...words: readonly string[]): Check {
  return [(value) => words.includes(value as string), words.map((word) => JSON.stringify(word)).join(' or ')];
}

/** Every field but `file` may be left out. A name that is none of these is a mistyped one, and would be ignored in silence. */
const FIELDS: Readonly<Record<Exclude<keyof BatchInput, 'file'>, Check>> = {
  ledgerId: text,
  application: text,
  onInvalid: oneOf('skip', 'hold'),
  decimal: oneOf(',', '.'),
  encoding: text,
  delimiter: text,
  sheet: text,
  duplicateRows: oneOf('refuse', 'keep'),
  lookAlikes: oneOf('refuse', 'keep'),
  profile: text,
  expectInvoices: [(value) => Number.isSafeInteger(value) && Number(value) >= 0, 'a whole number'],
  acceptDuplicateRisk: [(value) => typeof value === 'boolean', 'true or false'],
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
  for (const [name, value] of Object.entries(input)) {
    if (name === 'file' || value === undefined || value === null) continue;
    const field: Check | undefined = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof typeof FIELDS] : undefined;
    if (field === undefined)
      return `invoiceBatch knows no field ${JSON.stringify(name)}; beside "file" there are ${Object.keys(FIELDS).join(', ')}.`;
    const [is, must] = field;
    if (!is(value)) return `invoiceBatch: "${name}" must be ${must}, found ${JSON.stringify(value)}.`;
  }
  return null;
}

function isAmounts(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const amounts = Object.entries(value);
  return (
    amounts.length > 0 && amounts.every(([currency, net]) => /^[A-Z]{3}$/.test(currency) && typeof net === 'string')
  );
}
