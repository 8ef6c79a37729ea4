import { describe, expect, it } from 'vitest';
import { isJsonPointer, readPointer } from '../../../src/domain/json-pointer.ts';

describe('readPointer', () => {
  const document = { a: { b: [10, { c: null }] }, 'x/y': 1, 'm~n': 2, '': 3 };

  it.each([
    ['', document],
    ['/a/b/0', 10],
    ['/a/b/1/c', null],
    ['/x~1y', 1],
    ['/m~0n', 2],
    ['/', 3],
  ])('finds what stands at "%s"', (pointer, expected) => {
    expect(readPointer(document, pointer)).toEqual(expected);
  });

  it.each('/missing /a/b/2 /a/b/length /a/b/01 /a/b/0/deeper /__proto__ /constructor /a/toString'.split(' '))(
    'finds nothing at "%s", inherited things included',
    (pointer) => {
      expect(readPointer(document, pointer)).toBeUndefined();
    },
  );

  it('counts in a list beyond nine', () => {
    expect(readPointer('abcdefghijkl'.split(''), '/10')).toBe('k');
  });

  it.each([undefined, null, 'text', 7])('finds nothing below %s', (value) => {
    expect(readPointer(value, '/a')).toBeUndefined();
  });
});

describe('isJsonPointer', () => {
  it.each(['', '/', '/a', '/a/b~0c~1d', '/0'])('accepts "%s"', (text) => {
    expect(isJsonPointer(text)).toBe(true);
  });

  it.each(['a', 'a/b', '/a~2', '/~', '$.a'])('refuses "%s"', (text) => {
    expect(isJsonPointer(text)).toBe(false);
  });
});
