import { describe, expect, it } from 'vitest';
import { plainText } from '../../../src/texts/fill.ts';

describe('a text on one line', () => {
  it.each([
    ['a line end', 'may\r\nAll went out.csv', 'may All went out.csv'],
    ['a line end of Unicode', 'may\u2028All went out.csv', 'may All went out.csv'],
    ['a command of a terminal', 'may\u001b[2J.csv', 'may [2J.csv'],
    ['what turns the words behind it around', 'may\u202evsc.csv', 'may vsc.csv'],
    ['what keeps words together', 'may\u2066x\u2069.csv', 'may x .csv'],
  ])('has a space for %s', (_, text, plain) => {
    expect(plainText(text)).toBe(plain);
  });

  it('keeps accents, emoji and other alphabets', () => {
    expect(plainText('faturação 👩\u200d👧 עברית.csv')).toBe('faturação 👩\u200d👧 עברית.csv');
  });
});
