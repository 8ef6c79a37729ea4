import { InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import { expectedInvoices, expectedNet, requireOneFileForTotals } from '../../../src/cli/expectations.ts';

describe('--expect-invoices', () => {
  it('takes a whole number', () => {
    expect([expectedInvoices('0'), expectedInvoices('120')]).toEqual([0, 120]);
  });

  it.each(['', '-1', '1.5', '1e3', '12 ', 'many', '9999999999999'])('refuses %j', (text) => {
    expect(() => expectedInvoices(text)).toThrow(InvalidArgumentError);
  });
});

describe('--expect-net', () => {
  it('takes one amount for each currency, in capitals, as it was typed', () => {
    expect(expectedNet('usd=-3', expectedNet('EUR=15321.40'))).toEqual({ EUR: '15321.40', USD: '-3' });
  });

  it.each(['EUR', 'EUR=', 'EUR=1,5', 'EUR=1.234,50', 'EURO=1', 'EUR=1e3', '=1', '€=1', 'EUR=1=2'])(
    'refuses %j: a total that is read wrongly compares with nothing',
    (text) => {
      expect(() => expectedNet(text)).toThrow(InvalidArgumentError);
    },
  );

  it('refuses a currency twice', () => {
    expect(() => expectedNet('eur=2', { EUR: '1' })).toThrow('EUR is there twice');
  });
});

describe('control totals', () => {
  it('belong to one file', () => {
    expect(() => requireOneFileForTotals(['a', 'b'], { expectInvoices: 1 })).toThrow('expected one file');
    expect(() => requireOneFileForTotals(['a', 'b'], { expectNet: { EUR: '1' } })).toThrow('found 2');
    expect(() => requireOneFileForTotals(['a'], { expectInvoices: 1 })).not.toThrow();
    expect(() => requireOneFileForTotals(['a', 'b'], {})).not.toThrow();
  });
});
