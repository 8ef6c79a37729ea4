import { describe, expect, it } from 'vitest';
import { compileExpressions, expressionMistake } from '../../../../src/service/profile/expression.ts';
import { isOneOf, isPlace, readId, readPlace, type Document } from '../../../../src/service/profile/place.ts';

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
    const found = await compileExpressions(places)(DOCUMENT);

    expect(places.map((place) => readPlace(found, place))).toEqual([2, '201/v1/invoices/inv_2']);
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

async function evaluated(expression: string, body: unknown) {
  const { computed, exceeded } = await compileExpressions([`jsonata:${expression}`])({ body });
  return { found: computed?.get(expression), exceeded };
}

describe('an expression of the profile', () => {
  it('finds what it computes, and names nothing as exceeded', async () => {
    expect(await evaluated('a.b & "!"', { a: { b: 'x' } })).toEqual({ found: 'x!', exceeded: undefined });
  });

  it.each(['$split(a, "/")[0]', '$number("no number")'])(
    'that is made for another answer finds nothing: an error of types is no limit (%s)',
    async (expression) => {
      expect(await evaluated(expression, { a: 7 })).toEqual({ found: undefined, exceeded: undefined });
    },
  );

  it.each([
    ['time', '($f := function($n) { $f($n + 1) }; $f(0))'],
    ['depth', '($f := function($n) { 1 + $f($n + 1) }; $f(0))'],
    ['length of a list', '[1..20000]'],
    ['size', '$join([1..9000].($pad("", 100, "x")))'],
  ])('that exceeds its limit of %s is named: its result is unknown', async (_, expression) => {
    expect(await evaluated(expression, {})).toEqual({ found: undefined, exceeded: expression });
  });

  it('that is not there leaves the document as it is', async () => {
    const document = { body: 1 };

    expect(await compileExpressions(['/a', ['header:X', 'text'], null])(document)).toBe(document);
  });

  it('that cannot be compiled has a mistake', () => {
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

describe('readId', () => {
  it.each<[string, unknown, string, string]>([
    ['text with its prefix', 'mrc_a-B_9', 'mrc_', 'mrc_a-B_9'],
    ['text where no prefix is asked for', '9f1c-04', '', '9f1c-04'],
    ['a whole number where no prefix is asked for', 9_007_199_254_740_991, '', '9007199254740991'],
    ['the last step of an address', 'https://service.example/v1/merchants/mrc_1', 'mrc_', 'mrc_1'],
    ['the last step of a path', '/v1/merchants/17/', '', '17'],
    ['signs that other services use: a number of a document', 'FT.2026-15:3', '', 'FT.2026-15:3'],
    ['a number behind zeros', '007', '', '007'],
    ['zero behind a prefix', 'FT-0', 'FT-', 'FT-0'],
    ['base64', 'SW52b2ljZTox==', '', 'SW52b2ljZTox=='],
    ['250 characters behind the prefix', `mrc_${'a'.repeat(250)}`, 'mrc_', `mrc_${'a'.repeat(250)}`],
  ])('reads %s', (_, value, prefix, id) => {
    expect(readId(value, prefix)).toBe(id);
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, ''],
    ['empty text', '', ''],
    ['the prefix alone', 'mrc_', 'mrc_'],
    ['another prefix', 'inv_1', 'mrc_'],
    ['251 characters behind the prefix', `mrc_${'a'.repeat(251)}`, 'mrc_'],
    ['a step up in a path', 'mrc_../x', 'mrc_'],
    ['text with steps that is no address: "2024/15" is another id than "15"', '2024/15', ''],
    ['an address with nothing behind its host', 'https://service.example/', ''],
    ['an address with a query, where the id may stand', '/v1/invoices?id=5', ''],
    ['an address whose last step is encoded', '/v1/invoices/inv_%41', 'inv_'],
    ['an address that is none', 'http://[/inv_1', 'inv_'],
    ['zero, which programs write for none', 0, ''],
    ['a number below zero', -5, ''],
    ['zero as a text', '0', ''],
    ['a number below zero as a text, as one of many digits comes', '-9007199254740992', ''],
    ['zero as the last step of an address', '/v1/invoices/0', ''],
    ['a fraction', 1.5, ''],
    ['a number that lost digits', 2 ** 53, ''],
    ['an endless address', `/${'a/'.repeat(50_000)}`, ''],
    ['white space inside', 'inv_ 1', 'inv_'],
    ['an object', { id: 'mrc_1' }, 'mrc_'],
    ['dots, which are steps in a path', '..', ''],
    ['dots behind the prefix', 'mrc_..', 'mrc_'],
    ['what a spreadsheet would calculate', '=1+1', ''],
    ['an encoded character', 'inv_%2e', 'inv_'],
    ['a line break behind the id', 'mrc_1\n', 'mrc_'],
  ])('does not take %s', (_, value, prefix) => {
    expect(readId(value, prefix)).toBeNull();
  });
});
