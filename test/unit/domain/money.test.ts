import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalDecimal,
  differsByFactor,
  medianDecimal,
  isCanonicalDecimal,
  netOf,
  sumDecimals,
  typedAmount,
} from '../../../src/domain/money.ts';

/** A plain decimal as a person may write it: zeros in front and behind, a sign, any length. */
const plainDecimal = fc
  .record({
    sign: fc.constantFrom('', '+', '-'),
    whole: fc.stringMatching(/^\d{1,30}$/),
    fraction: fc.option(fc.stringMatching(/^\d{1,30}$/), { nil: null }),
  })
  .map(({ sign, whole, fraction }) => `${sign}${whole}${fraction === null ? '' : `.${fraction}`}`);

/** An amount as a whole number of units of 10^-scale: what a plain decimal means, without any decimal library. */
function units(decimal: string, scale: number): bigint {
  const negative = decimal.startsWith('-');
  const [whole = '', fraction = ''] = decimal.replace(/^[+-]/, '').split('.');
  const value = BigInt(whole + fraction.padEnd(scale, '0'));
  return negative ? -value : value;
}

describe('canonicalDecimal', () => {
  it.each([
    ['007.50', '7.5'],
    ['0', '0'],
    ['000', '0'],
    ['-0', '0'],
    ['-0.00', '0'],
    ['+1', '1'],
    ['10', '10'],
    ['100.00', '100'],
    ['-12.340', '-12.34'],
    ['0.0001', '0.0001'],
    ['123456789012345678901234567890.000000000000000000010', '123456789012345678901234567890.00000000000000000001'],
  ])('writes %s as %s', (text, canonical) => {
    expect(canonicalDecimal(text)).toBe(canonical);
  });

  it.each([...['', '1 000', ' 1', '1 '], ...'. .5 5. 1e3 1,5 --1 +-1 1- 1.2.3 ١ 0x1 NaN ∞'.split(' ')])(
    'takes %j for no plain decimal',
    (text) => {
      expect(canonicalDecimal(text)).toBeNull();
    },
  );

  it('never changes an amount, always gives a canonical one, and is at rest after one time', () => {
    fc.assert(
      fc.property(plainDecimal, (text) => {
        const canonical = canonicalDecimal(text) ?? 'null';

        expect(isCanonicalDecimal(canonical)).toBe(true);
        expect(units(canonical, 30)).toBe(units(text, 30));
        expect(canonicalDecimal(canonical)).toBe(canonical);
      }),
    );
  });

  it('gives one text to each amount: two spellings of one price are one fingerprint', () => {
    fc.assert(
      fc.property(plainDecimal, fc.nat(5), fc.nat(5), (text, before, behind) => {
        const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
        const longer = `${sign}${'0'.repeat(before)}${digits.includes('.') ? digits : `${digits}.0`}${'0'.repeat(behind)}`;

        expect(canonicalDecimal(longer)).toBe(canonicalDecimal(text));
      }),
    );
  });
});

describe('isCanonicalDecimal', () => {
  it.each(['0', '1', '-1', '10', '0.1', '-0.001', '1234567890.0987654321'])('takes %s', (text) => {
    expect(isCanonicalDecimal(text)).toBe(true);
  });

  it.each(['', '-0', '-0.0', '00', '01', '1.0', '1.', '.1', '+1', '1e1', '1,0', '1 ', '1\n', '-', '--1'])(
    'refuses %j: it would be another token on the wire',
    (text) => {
      expect(isCanonicalDecimal(text)).toBe(false);
    },
  );
});

describe('sumDecimals', () => {
  it('is exact where floats are not', () => {
    expect(sumDecimals(['0.1', '0.2'])).toBe('0.3');
    expect(
      sumDecimals(['1000000000000000000000000000000', '0.000000000000000001', '-1000000000000000000000000000000']),
    ).toBe('0.000000000000000001');
  });

  it('of nothing is 0, and of opposites 0 and never -0', () => {
    expect(sumDecimals([])).toBe('0');
    expect(sumDecimals(['-5.5', '5.5'])).toBe('0');
  });

  it('is a canonical decimal without an exponent, however large or small', () => {
    expect(sumDecimals([`1${'0'.repeat(40)}`])).toBe(`1${'0'.repeat(40)}`);
    expect(sumDecimals([`0.${'0'.repeat(40)}1`])).toBe(`0.${'0'.repeat(40)}1`);
  });

  it('equals the sum in whole units, in any order', () => {
    fc.assert(
      fc.property(fc.array(plainDecimal, { maxLength: 12 }), (texts) => {
        const amounts = texts.map((text) => canonicalDecimal(text) ?? '');
        const total = sumDecimals(amounts);

        expect(isCanonicalDecimal(total)).toBe(true);
        expect(units(total, 30)).toBe(amounts.reduce((sum, amount) => sum + units(amount, 30), 0n));
        expect(sumDecimals(amounts.toReversed())).toBe(total);
      }),
    );
  });
});

describe('medianDecimal', () => {
  it('is the middle one by value, not by text, and the lower one of two', () => {
    expect(medianDecimal(['9', '100', '20.5'])).toBe('20.5');
    expect(medianDecimal(['-3', '9', '100', '20'])).toBe('9');
    expect(medianDecimal([])).toBeNull();
  });
});

describe('differsByFactor', () => {
  it.each([
    ['50', '10', false],
    ['50.01', '10', true],
    ['10', '50.01', true],
    ['-50', '-10', false],
    ['-50.01', '-10', true],
    ['10', '-10', true],
    ['0', '0.01', true],
    ['0', '0', false],
    ['100000000000000000000.01', '20000000000000000000', true],
  ])('of %s and %s at five times is %s', (a, b, differs) => {
    expect(differsByFactor(a, b, 5)).toBe(differs);
  });
});

describe('netOf', () => {
  it('is the unrounded sum of quantity times price', () => {
    const lines = [
      { quantity: '3', unitPrice: '0.1' },
      { quantity: '0.333', unitPrice: '0.333' },
      { quantity: '-1', unitPrice: '0.05' },
    ];

    expect(netOf(lines)).toBe('0.360889');
  });

  it('equals the products in whole units', () => {
    const line = fc.record({ quantity: plainDecimal, unitPrice: plainDecimal });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (drawn) => {
        const lines = drawn.map(({ quantity, unitPrice }) => ({
          quantity: canonicalDecimal(quantity) ?? '',
          unitPrice: canonicalDecimal(unitPrice) ?? '',
        }));
        const products = lines.map(({ quantity, unitPrice }) => units(quantity, 30) * units(unitPrice, 30));

        expect(units(netOf(lines), 60)).toBe(products.reduce((sum, product) => sum + product, 0n));
      }),
    );
  });

  it('of no line is 0', () => {
    expect(netOf([])).toBe('0');
  });
});

it.each([
  ['1234,50', '1234.5'],
  ['1.234,50', '1234.5'],
  ['1,234.50', '1234.5'],
  ['1 234,5 €', '1234.5'],
  ["1'234.50 CHF", '1234.5'],
  ['EUR 12', '12'],
  ['1.234', '1234'],
  ['1.234.567', '1234567'],
  ['1,234,567.5', '1234567.5'],
  ['0,125', '0.125'],
  ['12.3456', '12.3456'],
  ['-7,00', '-7'],
  [' 12,5 ', '12.5'],
  ['1.234,567', '1234.567'],
  ['1,234.567', '1234.567'],
])('reads %j as %s', (text, amount) => {
  expect(typedAmount(text)).toBe(amount);
});

it.each(['', 'abc', '12a', '1,2.3,4', 'F/12', '12-13', '1.', '2026-11-21'])('takes %j for no amount', (text) => {
  expect(typedAmount(text)).toBeNull();
});
