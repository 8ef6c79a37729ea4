import fc from 'fast-check';
import { InvalidArgumentError } from 'commander';
import { expect, it } from 'vitest';
import { expectedInvoices, expectedNet, requireOneFileForTotals } from '../../../../src/cli/session/expectations.ts';
import { canonicalDecimal } from '../../../../src/domain/money.ts';

it('--expect-invoices is a whole number, and nothing else', () => {
  const read = ['0', '120', '007', '999999999999'].map((text) => expectedInvoices(text));
  expect(read).toEqual([0, 120, 7, 999_999_999_999]);

  const refusal = new InvalidArgumentError('expected a whole number such as 120');
  for (const text of ['', '-1', '+1', '1.0', '1,000', '1e3', 'ten', ' 12', '12 ', '1000000000000', '٣'])
    expect(() => expectedInvoices(text), text).toThrow(refusal);
});

it('--expect-net names a currency and a plain decimal, once for each currency', () => {
  const both = expectedNet('usd=-0.5', expectedNet('EUR=15321.40'));
  expect(both).toEqual({ EUR: '15321.40', USD: '-0.5' });
  expect(() => expectedNet('eur=3', both)).toThrow(new InvalidArgumentError('EUR is there twice'));
  // A word of JavaScript.
  expect(() => expectedNet('sup=5')).not.toThrow();
  const words = 'EUR EUR= =12 12 EURO=12 EU=12 EUR=12,50 EUR=1e3 E1R=12 EUR=1=2 €=1'.split(' ');
  for (const text of ['', 'EUR=1 000', 'EUR =12', ...words])
    expect(() => expectedNet(text), text).toThrow('expected a currency and a plain decimal such as EUR=15321.40');
});

it('--expect-net takes every plain decimal as it is written, and nothing else', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789.,-+e ')), maxLength: 8 }), (text) => {
      if (canonicalDecimal(text) === null) expect(() => expectedNet(`EUR=${text}`)).toThrow(InvalidArgumentError);
      else expect(expectedNet(`EUR=${text}`)).toEqual({ EUR: text });
    }),
  );
});

it('control totals are those of one file', () => {
  for (const totals of [{ expectInvoices: 3 }, { expectNet: { EUR: '1' } }]) requireOneFileForTotals(['a'], totals);
  requireOneFileForTotals(['a', 'b'], {});
  const message =
    'Comparing control totals: expected one file with --expect-invoices or --expect-net, found 2. Run them one by one.';
  for (const totals of [{ expectInvoices: 0 }, { expectNet: {} }])
    expect(() => requireOneFileForTotals(['a', 'b'], totals)).toThrow(
      expect.objectContaining({ code: 'usage', message }),
    );
});
