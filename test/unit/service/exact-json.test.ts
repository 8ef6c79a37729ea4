import { describe, expect, it } from 'vitest';
import { exactJson, exactNumber } from '../../../src/service/exact-json.ts';

describe('exactJson', () => {
  it.each(['0', '1', '-7.5', '0.1', '12345678901234567890.123456789', '100000000000000000000000'])(
    'writes the number %s digit by digit',
    (token) => {
      expect(exactJson(exactNumber(token))).toBe(token);
    },
  );

  it('keeps the order of members and leaves out undefined ones', () => {
    const text = exactJson({ members: { b: 'x', a: undefined, c: [exactNumber('1'), { members: {} }] } });

    expect(text).toBe('{"b":"x","c":[1,{}]}');
  });

  it.each(['quote " and \\', 'line\nend\u0000', 'Ação €', '\u2028', '😀'])(
    'writes the text %j so that it reads back',
    (text) => {
      expect(JSON.parse(exactJson({ members: { [text]: text } }))).toEqual({ [text]: text });
    },
  );
});

describe('exactNumber', () => {
  it.each(['', '1.0', '01', '1e3', '-0', '+1', '1,5', 'NaN', ' 1', '1}', '.5'])(
    'refuses %j, which is not canonical',
    (text) => {
      expect(() => exactNumber(text)).toThrow(RangeError);
    },
  );

  it('shows no more than the beginning of what it refuses', () => {
    expect(() => exactNumber('x'.repeat(1_000))).toThrow(
      `Writing a number into a request: expected a canonical decimal, found "${'x'.repeat(40)}"`,
    );
    expect(() => exactNumber('x'.repeat(1_000))).not.toThrow('x'.repeat(41));
  });
});
