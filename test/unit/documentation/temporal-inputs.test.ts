import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as messages from '../../../src/domain/messages/messages.ts';
import { tableAfter } from '../../support/lote/readme.ts';
import { requireBatchInput, requireRetryRequest, retryRequestOf } from '../../../workflows/typed-by-hand.ts';

const ROOT = new URL('../../../', import.meta.url);
const OPERATING = readFileSync(new URL('docs/operating.md', ROOT), 'utf8');
const WORKFLOWS = readFileSync(new URL('workflows/index.ts', ROOT), 'utf8');

interface Example {
  readonly where: string;
  readonly name: string;
  readonly input: string;
}

const examples: readonly Example[] = tableAfter(OPERATING, '### What to paste').map(
  ([, where = '', name = '', input = '']) => ({
    where,
    name: name.replaceAll('`', ''),
    input: input.replaceAll('`', ''),
  }),
);
const updates = Object.values(messages).flatMap((definition) =>
  typeof definition === 'object' && definition.type === 'update' ? [definition.name] : [],
);

describe('the inputs to paste into the Temporal UI in docs/operating.md', () => {
  it.each(examples)('$where $name $input is what Lote takes', ({ where, name, input }) => {
    const parsed: unknown = input === 'nothing' ? undefined : JSON.parse(input);

    if (where === '*Start Workflow*') expect(WORKFLOWS).toMatch(new RegExp(`\\b${name}\\b`, 'u'));
    else expect(updates).toContain(name);
    if (name === 'invoiceBatch') requireBatchInput(parsed as messages.BatchInput);
    if (name === 'retryInvoices' && where === '*Start Workflow*') retryRequestOf(parsed as messages.RetryInput);
    if (name === 'retryInvoices' && where === '*Send an Update*')
      requireRetryRequest(parsed as messages.RetryRequestInput);
  });

  it('show every update that an operator can send', () => {
    const shown = examples.filter(({ where }) => where === '*Send an Update*').map(({ name }) => name);

    expect(updates.length).toBeGreaterThan(5);
    expect(shown.toSorted()).toEqual(updates.toSorted());
  });
});
