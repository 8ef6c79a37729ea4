import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OUTCOMES } from '../../../src/domain/invoice-state.ts';
import { sumDecimals } from '../../../src/domain/money.ts';
import type { BatchRecord, OutcomeCount } from '../../../src/domain/ports/ledger/batch-record.ts';
import type { BalanceSheet } from '../../../src/report/check-balance.ts';
import { checkBalance } from '../../../src/report/check-balance.ts';
import { currencyTotals } from '../../../src/report/currency-totals.ts';
import { createOutcomeTally } from '../../../src/report/outcome-tally.ts';
import { batchInvoice, batchOf, countsOf } from './batch-invoices.ts';

const TWO = [batchInvoice({ ordinal: 1, net: '10.5' }), batchInvoice({ ordinal: 2, net: '4', state: 'failed' })];

function sheet(over: Partial<BalanceSheet> = {}, batch: Partial<BatchRecord> = {}): BalanceSheet {
  return {
    batch: batchOf(TWO, batch),
    counted: countsOf(TWO),
    read: countsOf(TWO),
    rowsRead: 4,
    rowsWithoutInvoice: 0,
    ...over,
  };
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
  it('says nothing of books that balance', () => {
    expect(refusal({})).toBe('it balances');
  });

  it.each<[string, Partial<BalanceSheet>, Partial<BatchRecord>, string]>([
    [
      'an invoice that the ledger counted too few',
      { counted: countsOf([batchInvoice()]) },
      {},
      'invoices over all states must be 2, found 1',
    ],
    ['an invoice that was read too few', { read: countsOf([batchInvoice()]) }, {}, 'invoices read must be 2, found 1'],
    [
      'an invoice too many in both',
      { counted: countsOf([...TWO, batchInvoice({ ordinal: 3 })]) },
      {},
      'invoices over all states must be 2, found 3',
    ],
    ['a row that was lost', { rowsRead: 3 }, {}, 'rows (rows of invoices and rows without one) must be 4, found 3'],
    [
      'a row that was counted twice',
      { rowsRead: 5 },
      {},
      'rows (rows of invoices and rows without one) must be 4, found 5',
    ],
    [
      'a row without an invoice that the batch does not know',
      { rowsWithoutInvoice: 1 },
      {},
      'rows (rows of invoices and rows without one) must be 4, found 5',
    ],
    [
      'an amount that differs by a cent',
      { read: countsOf([batchInvoice({ net: '10.51' }), batchInvoice({ ordinal: 2, net: '4', state: 'failed' })]) },
      {},
      'invoices, amount and unreadable amounts of issued, EUR must be 1 / 10.5 / 0, found 1 / 10.51 / 0',
    ],
    [
      'a failed invoice that was read as issued',
      { read: countsOf([batchInvoice({ net: '10.5' }), batchInvoice({ ordinal: 2, net: '4' })]) },
      {},
      'invoices, amount and unreadable amounts of issued, EUR must be 1 / 10.5 / 0, found 2 / 14.5 / 0',
    ],
    [
      'an amount in another currency',
      {
        read: countsOf([
          batchInvoice({ net: '10.5', currency: 'USD' }),
          batchInvoice({ ordinal: 2, net: '4', state: 'failed' }),
        ]),
      },
      {},
      'invoices, amount and unreadable amounts of issued, EUR must be 1 / 10.5 / 0, found none',
    ],
    [
      'an amount that could not be read and was taken for zero',
      { read: countsOf([batchInvoice({ net: '10.5' }), batchInvoice({ ordinal: 2, net: null, state: 'failed' })]) },
      {},
      'invoices, amount and unreadable amounts of failed, EUR must be 1 / 4 / 0, found 1 / 0 / 1',
    ],
  ])('refuses %s, in these words', (_, over, batch, sentence) => {
    expect(refusal(over, batch)).toBe(unbalanced(sentence));
  });

  it.each(['running', 'paused'] as const)('lets invoices of a %s batch move while they are read', (state) => {
    const moved = countsOf(TWO.map((invoice) => ({ ...invoice, state: 'accepted' as const })));

    expect(refusal({ read: moved }, { state })).toBe('it balances');
  });

  it.each(['finished', 'cancelled'] as const)('lets none of a %s batch move', (state) => {
    const moved = countsOf(TWO.map((invoice) => ({ ...invoice, state: 'accepted' as const })));

    expect(refusal({ read: moved }, { state })).toContain('issued, EUR must be 1 / 10.5 / 0, found none');
  });

  it('compares the money of a running batch all the same', () => {
    const less = countsOf([batchInvoice({ net: '10.5' }), batchInvoice({ ordinal: 2, net: '3' })]);

    expect(refusal({ read: less }, { state: 'running' })).toBe(
      unbalanced('invoices, amount and unreadable amounts of EUR must be 2 / 14.5 / 0, found 2 / 13.5 / 0'),
    );
  });

  it('takes a state without invoices for none: the ledger may count it or leave it out', () => {
    const none: OutcomeCount = { outcome: 'held', currency: 'EUR', invoices: 0, net: '0', withoutAmount: 0 };

    expect(refusal({ counted: [...countsOf(TWO), none] })).toBe('it balances');
  });

  it('adds up what the ledger counted in several lines', () => {
    const half = { outcome: 'issued', currency: 'EUR', invoices: 0, net: '5.25', withoutAmount: 0 } as const;
    const [, failed] = countsOf(TWO);
    if (failed === undefined) throw new Error('two counts were expected');

    const counted = [{ ...half, invoices: 1, net: '10.5' }, failed];

    expect(refusal({ counted })).toBe('it balances');
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

describe('currencyTotals', () => {
  it('are in alphabetical order, the unreadable currency last, and add up to themselves', () => {
    const count = (currency: string | null, outcome: OutcomeCount['outcome'], net: string): OutcomeCount => ({
      outcome,
      currency,
      invoices: 2,
      net,
      withoutAmount: currency === null ? 2 : 0,
    });

    const totals = currencyTotals([
      count(null, 'invalid', '0'),
      count('USD', 'issued', '-3.5'),
      count('EUR', 'failed', '0.1'),
      count('EUR', 'issued', '0.2'),
    ]);

    expect(totals).toEqual([
      { currency: 'EUR', invoices: 4, net: '0.3', withoutAmount: 0, byState: { failed: '0.1', issued: '0.2' } },
      { currency: 'USD', invoices: 2, net: '-3.5', withoutAmount: 0, byState: { issued: '-3.5' } },
      { currency: null, invoices: 2, net: '0', withoutAmount: 2, byState: { invalid: '0' } },
    ]);
    expect(currencyTotals([])).toEqual([]);
  });
});

describe('createOutcomeTally', () => {
  const drawn = fc.record({
    state: fc.constantFrom(...OUTCOMES),
    currency: fc.constantFrom('EUR', 'USD', null),
    net: fc.option(fc.integer({ min: -1_000_000, max: 1_000_000 }).map((cents) => sumDecimals([`${cents}e-2`]))),
  });

  it('counts the same however the invoices are cut into portions', () => {
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), (given, size) => {
        const invoices = given.map((one, index) => batchInvoice({ ...one, ordinal: index + 1 }));
        const tally = createOutcomeTally();
        for (let from = 0; from < invoices.length; from += size) tally.add(invoices.slice(from, from + size));

        expect(tally.counts()).toEqual(countsOf(invoices));
        expect(tally.counts().reduce((sum, { invoices: count }) => sum + count, 0)).toBe(invoices.length);
        expect(tally.counts().reduce((sum, { withoutAmount }) => sum + withoutAmount, 0)).toBe(
          invoices.filter(({ net }) => net === null).length,
        );
      }),
    );
  });

  it('does not confuse a missing currency with one that is called so', () => {
    const tally = createOutcomeTally();
    tally.add([batchInvoice({ currency: null }), batchInvoice({ ordinal: 2, currency: 'null' })]);

    expect(tally.counts()).toHaveLength(2);
  });
});
