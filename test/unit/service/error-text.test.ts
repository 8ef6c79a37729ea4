import { describe, expect, it } from 'vitest';
import { errorText } from '../../../src/service/seen-answer.ts';

const nested = (depth: number, value: unknown): unknown => (depth === 0 ? value : { in: nested(depth - 1, value) });

describe('the text of an error', () => {
  it.each<[string, unknown, string | null]>([
    ['a text', ' The NIF is wrong ', 'The NIF is wrong'],
    ['a number', 7, '7'],
    ['a list of texts', ['one', 'two'], 'one; two'],
    ['a list without fields', [{ detail: 'one' }, { detail: 'two' }], 'detail: one; detail: two'],
    ['fields with lists', { nif: ['is wrong', 'is short'] }, 'nif: is wrong; nif: is short'],
    ['fields, one of which is null', { a: null, b: 'x' }, 'b: x'],
    ['blanks beside a text', ['', ' ', 'x'], 'x'],
    ['true', true, null],
    ['null', null, null],
    ['nothing', undefined, null],
    ['nothing but blanks', { a: '', b: [' '] }, null],
  ])('of %s', (_name, value, text) => {
    expect(errorText(value)).toBe(text);
  });

  it('is that of the first five, of a list and of fields', () => {
    const six = ['1', '2', '3', '4', '5', '6'];

    expect(errorText(six)).toBe('1; 2; 3; 4; 5');
    expect(errorText({ a: six.slice(0, 3), b: six })).toBe('a: 1; a: 2; a: 3; b: 1; b: 2');
    expect(errorText(Object.fromEntries(six.map((text) => [`f${text}`, text])))).toBe(
      'f1: 1; f2: 2; f3: 3; f4: 4; f5: 5',
    );
  });

  it('looks no further back than five items and ten fields: an error is short', () => {
    expect(errorText(['', '', '', '', '', 'six'])).toBeNull();
    const fields = (empty: number) => ({
      ...Object.fromEntries(Array.from({ length: empty }, (_, at) => [`f${at}`, null])),
      last: 'x',
    });
    expect(errorText(fields(9))).toBe('last: x');
    expect(errorText(fields(10))).toBeNull();
  });

  it('looks four steps down and no deeper, however deep it is', () => {
    expect(errorText(nested(4, 'x'))).toBe('in: x');
    expect(errorText(nested(5, 'x'))).toBeNull();
    const endless = JSON.parse(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`) as unknown;
    expect(errorText([endless, 'x'])).toBe('x');
  });
});
