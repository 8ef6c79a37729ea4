import { describe, expect, test } from 'vitest';
import { sendingHold } from '../../../../activities/batch/sending-hold.ts';
import type { Finding } from '../../../../src/domain/invoice.ts';
import type { OutcomeCount } from '../../../../src/domain/records/batch-record.ts';

function counted(net: string, more: Partial<OutcomeCount> = {}): OutcomeCount {
  return { outcome: 'staged', currency: 'EUR', invoices: 1, net, withoutAmount: 0, ...more };
}

function gate(
  asked: Parameters<typeof sendingHold>[1],
  outcomes: readonly OutcomeCount[],
  batch: { invoices?: number; rowsWithoutInvoice?: number; fileFindings?: readonly Finding[] } = {},
) {
  const ledger = { countOutcomes: () => Promise.resolve(outcomes) };
  return sendingHold(ledger, asked, { batchId: 'b', invoices: 2, rowsWithoutInvoice: 0, fileFindings: [], ...batch });
}

const TOTALS_ROW: Finding = { row: 9, column: null, code: 'totals-row', message: '', severity: 'warning' };

describe('control totals', () => {
  test('that match let the batch go, in any notation of the amount', async () => {
    const outcomes = [counted('10.5'), counted('4.5', { outcome: 'invalid' })];

    expect(await gate({ expectInvoices: 2, expectNet: { EUR: '15.00' } }, outcomes)).toBeNull();
    expect(await gate({ expectNet: { eur: '15' } }, outcomes)).toBeNull();
    expect(await gate({}, outcomes)).toBeNull();
  });

  test.each([
    ['another number of invoices', { expectInvoices: 3 }, [counted('1')], 'expected 3 invoices, found 2'],
    ['a net', { expectNet: { EUR: '15321.40' } }, [counted('15321.39')], 'expected net EUR 15321.4, found 15321.39'],
    [
      'an unexpected currency',
      { expectNet: { EUR: '1' } },
      [counted('1'), counted('2', { currency: 'USD' })],
      'nothing in USD, found 2',
    ],
    ['a currency that is not there', { expectNet: { EUR: '1', USD: '2' } }, [counted('1')], 'USD 2, found 0'],
    [
      'an amount that cannot be read',
      { expectNet: { EUR: '1' } },
      [counted('1'), counted('0', { outcome: 'invalid', currency: null, withoutAmount: 1 })],
      '1 invoices have no readable amount',
    ],
  ])('hold the batch: %s', async (_, asked, outcomes, words) => {
    const reason = await gate(asked, outcomes);

    expect(reason?.code).toBe('control-totals-differ');
    expect(reason?.message).toContain(words);
    expect(reason?.message).toContain('Nothing of it was sent');
  });

  test('with an amount that is none are refused', async () => {
    await expect(gate({ expectNet: { EUR: 'much' } }, [counted('1')])).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('on-invalid "hold"', () => {
  test('holds for an invalid invoice and for a lost row, and for no totals row', async () => {
    const valid = [counted('1')];

    expect((await gate({ onInvalid: 'hold' }, [...valid, counted('1', { outcome: 'invalid' })]))?.code).toBe(
      'invalid-rows-in-file',
    );
    expect((await gate({ onInvalid: 'hold' }, valid, { rowsWithoutInvoice: 1 }))?.code).toBe('invalid-rows-in-file');
    expect(await gate({ onInvalid: 'hold' }, valid, { rowsWithoutInvoice: 1, fileFindings: [TOTALS_ROW] })).toBeNull();
    expect(await gate({ onInvalid: 'skip' }, valid, { rowsWithoutInvoice: 1 })).toBeNull();
  });
});
