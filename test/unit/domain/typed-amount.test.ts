import { expect, it } from 'vitest';
import { typedAmount } from '../../../src/domain/typed-amount.ts';

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
