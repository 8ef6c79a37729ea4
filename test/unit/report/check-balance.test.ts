import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumDecimals } from '../../../src/domain/money.ts';
import type { BalanceSheet } from '../../../src/report/check-balance.ts';
import { checkBalance, createOutcomeTally } from '../../../src/report/check-balance.ts';
import { batchInvoice, batchOf, countsOf } from './batch-invoices.ts';
import type { BatchInvoice, BatchRecord, OutcomeCount } from '../../../src/domain/records/batch-record.ts';

const TWO = [batchInvoice({ ordinal: 1, net: '10.5' }), batchInvoice({ ordinal: 2, net: '4', state: 'failed' })];

const ONE = countsOf([batchInvoice()]);
const THREE = countsOf([...TWO, batchInvoice({ ordinal: 3 })]);

/** The counts of the two, read with these differences. */
function bothAs(first: Partial<BatchInvoice>, second: Partial<BatchInvoice> = {}): readonly OutcomeCount[] {
  return countsOf(TWO.map((invoice, at) => ({ ...invoice, ...(at === 0 ? first : second) })));
}

function sheet(over: Partial<BalanceSheet> = {}, batch: Partial<BatchRecord> = {}): BalanceSheet {
  const counts = countsOf(TWO);
  return { batch: batchOf(TWO, batch), counted: counts, read: counts, rowsRead: 4, rowsWithoutInvoice: 0, ...over };
}

/** What an accountant reads when a report is refused. */
function refusal(over: Partial<BalanceSheet>, batch: Partial<BatchRecord> = {}): string {
  try {
    checkBalance(sheet(over, batch));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'it balances';
}

const HELP =
  'No report was written; run "lote report batch-may-0a1b2c3d" once more, and keep the data directory if it says so again.';

function unbalanced(sentence: string): string {
  return `Building the report of batch batch-may-0a1b2c3d: ${sentence}. ${HELP}`;
}

describe('checkBalance', () => {
  const ROWS = 'rows (rows of invoices and rows without one) must be 4';
  const ISSUED = 'invoices, amount and unreadable amounts of issued, EUR must be 1 / 10.5 / 0';
  const FAILED = 'invoices, amount and unreadable amounts of failed, EUR must be 1 / 4 / 0';

  it.each<[string, Partial<BalanceSheet>, string]>([
    ['an invoice counted too few', { counted: ONE }, 'invoices over all states must be 2, found 1'],
    ['an invoice read too few', { read: ONE }, 'invoices read must be 2, found 1'],
    ['an invoice too many in both', { counted: THREE }, 'invoices over all states must be 2, found 3'],
    ['a row that was lost', { rowsRead: 3 }, `${ROWS}, found 3`],
    ['a row that was counted twice', { rowsRead: 5 }, `${ROWS}, found 5`],
    ['a row without an invoice that the batch does not know', { rowsWithoutInvoice: 1 }, `${ROWS}, found 5`],
    ['an amount that differs by a cent', { read: bothAs({ net: '10.51' }) }, `${ISSUED}, found 1 / 10.51 / 0`],
    ['a failed invoice read as issued', { read: bothAs({}, { state: 'issued' }) }, `${ISSUED}, found 2 / 14.5 / 0`],
    ['an amount in another currency', { read: bothAs({ currency: 'USD' }) }, `${ISSUED}, found none`],
    ['an unreadable amount taken for zero', { read: bothAs({}, { net: null }) }, `${FAILED}, found 1 / 0 / 1`],
  ])('refuses %s, in these words', (_, over, sentence) => {
    expect(refusal(over)).toBe(unbalanced(sentence));
  });

  it.each([
    ...(['running', 'paused'] as const).map((state) => [state, 'it balances'] as const),
    ...(['finished', 'cancelled'] as const).map((state) => [state, `${ISSUED}, found none`] as const),
  ])('lets invoices move while they are read only where the batch runs: %s', (state, said) => {
    expect(refusal({ read: bothAs({ state: 'accepted' }, { state: 'accepted' }) }, { state })).toContain(said);
  });

  it('compares the money of a running batch all the same', () => {
    const read = bothAs({}, { net: '3' });

    expect(refusal({ read }, { state: 'running' })).toBe(
      unbalanced('invoices, amount and unreadable amounts of EUR must be 2 / 14.5 / 0, found 2 / 13.5 / 0'),
    );
  });

  it('takes a state without invoices for none: the ledger may count it or leave it out', () => {
    const none: OutcomeCount = { outcome: 'held', currency: 'EUR', invoices: 0, net: '0', withoutAmount: 0 };

    expect(refusal({})).toBe('it balances');
    expect(refusal({ counted: [...countsOf(TWO), none] })).toBe('it balances');
  });

  it('adds up what the ledger counted in several lines', () => {
    const half = { outcome: 'issued', currency: 'EUR', invoices: 0, net: '5.25', withoutAmount: 0 } as const;
    const [, failed] = countsOf(TWO);
    if (failed === undefined) throw new Error('two counts were expected');

    expect(refusal({ counted: [{ ...half, invoices: 1, net: '10.5' }, failed] })).toBe('it balances');
    expect(refusal({ counted: [{ ...half, invoices: 1 }, failed] })).toContain(
      'must be 1 / 5.25 / 0, found 1 / 10.5 / 0',
    );
  });

  it('finds any single count that is wrong by one', () => {
    const which = fc.record({
      side: fc.constantFrom('counted' as const, 'read' as const),
      place: fc.nat(1),
      what: fc.constantFrom('invoices' as const, 'net' as const, 'withoutAmount' as const),
    });
    fc.assert(
      fc.property(which, ({ side, place, what }) => {
        const counts = countsOf(TWO).map((count, index) =>
          index === place
            ? { ...count, [what]: what === 'net' ? sumDecimals([count.net, '0.01']) : count[what] + 1 }
            : count,
        );

        expect(refusal({ [side]: counts })).toContain('Building the report');
      }),
    );
  });
});

describe('createOutcomeTally', () => {
  it('does not confuse a missing currency with one that is called so', () => {
    const tally = createOutcomeTally();
    tally.add([batchInvoice({ currency: null }), batchInvoice({ ordinal: 2, currency: 'null' })]);

    expect(tally.counts()).toHaveLength(2);
  });
});
