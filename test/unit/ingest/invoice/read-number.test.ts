import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readNumber } from '../../../../src/ingest/invoice/read-number.ts';

function value(cell: string, mark: '.' | ','): string | null {
  return readNumber(cell, mark)?.value ?? null;
}

describe('readNumber', () => {
  it.each([
    ['12', '12', '12'],
    ['12.5', '12.5', null],
    ['12,5', null, '12.5'],
    ['1.234', '1.234', '1234'],
    ['1,234', '1234', '1.234'],
    ['1.234,56', null, '1234.56'],
    ['1,234.56', '1234.56', null],
    ['1.234.567', null, '1234567'],
    ['0.125', '0.125', null],
    ['0,125', null, '0.125'],
    ['12.34.56', null, null],
    ['1.2345', '1.2345', null],
    ['1234.567', '1234.567', null],
    ['.5', '0.5', null],
    ['5.', null, null],
    ['007,50', null, '7.5'],
  ])('reads %s as %s with a point and as %s with a comma', (cell, point, comma) => {
    expect(value(cell, '.')).toBe(point);
    expect(value(cell, ',')).toBe(comma);
  });

  it.each(['-5', '5-', '(5)', '−5', '- 5', '－５', '-€5', '€-5', '(5 EUR)'])('reads %s as minus five', (cell) => {
    expect(value(cell, '.')).toBe('-5');
    expect(value(cell, ',')).toBe('-5');
  });

  it.each(["1'234.5", '1’234.5', '1 234.5', '1\u00a0234.5', '1\u202f234.5', '1\u2009234.5', '１２３４．５'])(
    'reads the thousands of %j',
    (cell) => {
      expect(value(cell, '.')).toBe('1234.5');
    },
  );

  it.each([
    ...['', ' ', '- -', '12 34', '1 234 56', '5 EUR EUR'],
    ...'- + () --5 (-5) 5% 1e5 1,5E+3 10² ½ ٣ 0x10 1_000 EUR € NaN Infinity 1,234,56 12.5O €5€'.split(' '),
  ])('refuses %j', (cell) => {
    expect(readNumber(cell, '.')).toBeNull();
    expect(readNumber(cell, ',')).toBeNull();
  });

  it.each([
    ['€ 5', '€'],
    ['5 €', '€'],
    ['5EUR', 'EUR'],
    ['USD 5', 'USD'],
    ['R$ 5', 'R$'],
    ['5', null],
  ])('tells the currency of %s', (cell, currency) => {
    expect(readNumber(cell, '.')).toEqual({ value: '5', currency });
  });

  it('refuses a cell of hostile length', () => {
    expect(readNumber('9'.repeat(10_000), '.')).toBeNull();
  });

  it('reads back any decimal that it is given in either convention, exactly', () => {
    const decimal = fc.tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.stringMatching(/^\d{0,12}$/));
    fc.assert(
      fc.property(decimal, ([negative, whole, fraction]) => {
        const trimmed = fraction.replace(/0+$/, '');
        const digits = trimmed === '' ? String(whole) : `${whole}.${trimmed}`;
        const expected = negative && digits !== '0' ? `-${digits}` : digits;
        const sign = negative ? '-' : '';
        const tail = (mark: string) => (fraction === '' ? '' : mark + fraction);

        expect(value(sign + String(whole) + tail('.'), '.')).toBe(expected);
        expect(value(sign + String(whole) + tail(','), ',')).toBe(expected);
        expect(value(sign + grouped(whole, '.') + tail(','), ',')).toBe(expected);
        expect(value(sign + grouped(whole, ',') + tail('.'), '.')).toBe(expected);
      }),
    );
  });

  it('never reads anything but a canonical decimal', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('.' as const, ',' as const), (cell, mark) => {
        expect(value(cell, mark) ?? '0').toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
      }),
    );
  });
});

function grouped(whole: bigint, separator: string): string {
  return String(whole).replace(/\B(?=(?:\d{3})+$)/g, separator);
}
