import { describe, expect, it } from 'vitest';
import { compileExpressions, expressionMistake } from '../../../../src/service/profile/expression.ts';
import { isPlace, readPlace, type Document, isOneOf } from '../../../../src/service/profile/place.ts';

const DOCUMENT: Document = {
  body: { data: { id: 'inv_1', empty: '' }, list: [{ id: 1 }, { id: 2 }] },
  headers: { location: '/v1/invoices/inv_2', link: ['<a>', '<b>'] },
  status: 201,
};

describe('readPlace', () => {
  it.each([
    ['a pointer', '/data/id', 'inv_1'],
    ['a header, whatever its case', 'header:Location', '/v1/invoices/inv_2'],
    ['a header that came twice', 'header:link', '<a>, <b>'],
    ['a header that is not there', 'header:constructor', undefined],
    [
      'the first place of a list that holds something',
      ['/data/empty', '/none', 'header:location'],
      '/v1/invoices/inv_2',
    ],
    ['nothing of a list', ['/none', '/data/empty'], undefined],
    ['text of a JSON body', 'text', undefined],
  ])('finds %s', (_name, place, found) => {
    expect(readPlace(DOCUMENT, place)).toBe(found);
  });

  it('reads an expression after it was evaluated, with headers and status', async () => {
    const places = ['jsonata: list[-1].id', 'jsonata: $status & $headers.location'];
    const evaluated = await compileExpressions(places)?.(DOCUMENT);

    expect(evaluated).toBeDefined();
    expect(places.map((place) => readPlace(evaluated ?? DOCUMENT, place))).toEqual([2, '201/v1/invoices/inv_2']);
  });

  it.each([
    ['/a/b', true],
    ['', true],
    ['a/b', false],
    ['header:', false],
    ['header:X Y', false],
    ['text', true],
  ])('knows whether %j is a place', (text, is) => {
    expect(isPlace(text)).toBe(is);
  });
});

describe('expressions', () => {
  it('leave the document as it is where the profile has none', async () => {
    const document = { body: 1 };

    expect(await compileExpressions(['/a', ['header:X', 'text'], null])(document)).toBe(document);
  });

  it.each([
    ['endless recursion', '($f := function($x) { 1 + $f($x) }; $f(1))'],
    ['an endless loop', '($f := function($x) { $f($x) }; $f(1))'],
    ['a huge list', '[1..9000000]'],
    ['a huge text', '$join([1..9999].$pad("", 1000, "x"))'],
    ['an error', '$number("no number")'],
  ])('find nothing by %s', async (_name, expression) => {
    const place = `jsonata:${expression}`;
    const evaluated = await compileExpressions([place])?.({ body: {} });

    expect(readPlace(evaluated ?? { body: {} }, place)).toBeUndefined();
  });

  it('say what is wrong with them', () => {
    expect(expressionMistake('a.[')).toEqual(expect.any(String));
    expect(expressionMistake('a.b')).toBeNull();
  });
});

describe('words', () => {
  it.each([
    ['ISSUED ', true],
    [3, true],
    [true, true],
    ['issue', false],
    [null, false],
    [{}, false],
  ])('compares %j without case', (value, is) => {
    expect(isOneOf(value, ['issued', '3', 'TRUE'])).toBe(is);
  });
});
