import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../../../src/service/profile/exact-json.ts';

describe('parseExactJson', () => {
  it.each<[string, string, unknown]>([
    ['an id of 18 digits keeps each of them', '{"id":175928847299117063}', { id: '175928847299117063' }],
    ['so does the first number that a double cannot hold', '[9007199254740992]', ['9007199254740992']],
    ['and one below zero', '[-9007199254740993]', ['-9007199254740993']],
    ['a number that a double can hold stays a number', '[9007199254740991]', [9_007_199_254_740_991]],
    [
      'fractions and exponents stay numbers',
      '[1234567890123456.5, 12345678901234567e2]',
      [1234567890123456.5, 1.2345678901234568e18],
    ],
    ['a fraction of many digits stays a number', '[0.1234567890123456]', [0.1234567890123456]],
    [
      'digits inside of a text stay as they are',
      '{"a \\" 175928847299117063":"175928847299117063 \\\\"}',
      {
        'a " 175928847299117063': '175928847299117063 \\',
      },
    ],
  ])('%s', (_, text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it('is JSON.parse wherever no number is longer than a double can hold', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), (text) => {
        const long = /(?<![\d.eE+])-?\d{16,}/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""'));
        fc.pre(!long);
        expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is through with a megabyte of a text that never ends', () => {
    const text = `[175928847299117063, "${'\\"'.repeat(500_000)}`;

    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  it.each(['{"id":175928847299117063', '[175928847299117063 1]', '175928847299117063"'])(
    'takes %s for no JSON',
    (text) => {
      expect(() => parseExactJson(text)).toThrow(SyntaxError);
    },
  );
});
