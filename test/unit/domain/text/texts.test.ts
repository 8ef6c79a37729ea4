import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvRecord, escapeFormula, originalCell } from '../../../../src/domain/text/escape-formula.ts';
import { escapeInvisible } from '../../../../src/domain/text/escape-invisible.ts';
import { isStatusMessage, statusMessage } from '../../../../src/domain/text/status-message.ts';
import { misfitMessage, shownWord } from '../../../../src/domain/profile-misfit.ts';

describe('inertCell', () => {
  it.each([
    ...['\t=1', '\r=1', '\n=1', '- A1'],
    ..."=1+1 +cmd -2+3 @SUM(A1) ＝1+1 ＋1+A1 －1+A1 ＠x '=1 - +-1 -1=2".split(' '),
  ])('puts a quote before %j', (text) => {
    expect(escapeFormula(text)).toBe(`'${text}`);
  });

  it.each([
    ...['', '-1 234,50', '-12,50 €', '-€ 12', '-12.5 EUR'],
    ..."Serviço -12 -12.50 +3 -1.234,56 -1'234.50 -5% -1.5E-7 +1e5 -2E+10 'quoted O'Neill a=b".split(' '),
  ])('leaves %j as it is', (text) => {
    expect(escapeFormula(text)).toBe(text);
  });

  it.each([
    ['spaces', `-${' '.repeat(1_000_000)}x`],
    ['digits', `-${'1'.repeat(1_000_000)}x`],
    ['quotes', `${"'".repeat(1_000_000)}x`],
  ])('ends with a million %s, too', (_, text) => {
    expect(originalCell(escapeFormula(text))).toBe(text);
  });

  it('is undone by originalCell, whatever the text', () => {
    const sign = fc.constantFrom('=', '+', '-', '@', "'", '\t', '\r', '\n', '＝', '1', ',', ' ', 'E', 'a');
    const text = fc.oneof(
      fc.string(),
      fc.array(sign, { maxLength: 6 }).map((signs) => signs.join('')),
    );

    fc.assert(
      fc.property(text, (cell) => {
        expect(originalCell(escapeFormula(cell))).toBe(cell);
      }),
      { numRuns: 2000 },
    );
  });

  it('leaves nothing that starts like a formula, except signed numbers', () => {
    fc.assert(
      fc.property(fc.string(), (cell) => {
        expect(escapeFormula(cell)).toMatch(/^(?:[^=+\-@\t\r\n]|[+-]\s*[€$£]?\s*\d|$)/u);
      }),
    );
  });
});

describe('csvRecord', () => {
  it('quotes a cell that holds the separator of any locale, so that it stays one cell in each', () => {
    expect(csvRecord(['a;=1', 'b,=1', 'c\t=1', 'd|=1', 'plain words'], ',')).toBe(
      '"a;=1","b,=1","c\t=1","d|=1",plain words',
    );
  });

  it('doubles quotes and keeps line ends inside', () => {
    expect(csvRecord(['say "no"', 'two\r\nlines'], ';')).toBe('"say ""no""";"two\r\nlines"');
  });

  it('quotes outer white space, which some readers trim', () => {
    expect(csvRecord([' a', 'b '], ';')).toBe('" a";"b "');
  });
});

it('shows what a page or a terminal acts on, and says the same', () => {
  const said = ['may\u202Evsc.csv', 'a\u2066b\u200Fc', 'd\u009Be\u2028', 'Pão 価格'];
  const json = escapeInvisible(JSON.stringify(said));

  expect(json).toBe(String.raw`["may\u202evsc.csv","a\u2066b\u200fc","d\u009be\u2028","Pão 価格"]`);
  expect(JSON.parse(json)).toEqual(said);
});

describe('the message of an answer', () => {
  it.each([
    [503, '', 'HTTP 503'],
    [422, 'No such tax code', 'HTTP 422: No such tax code'],
    [0, 'No status', 'HTTP 0: No status'],
  ])('with status %d and the words "%s" is known again', (status, said, message) => {
    expect(statusMessage(status, said)).toBe(message);
    expect(isStatusMessage(message)).toBe(true);
  });

  it.each([
    'This request was not sent (connection-refused)',
    'The service answered 403 Forbidden.',
    'The service says HTTP 422: no',
    'HTTP 422 is what it said',
  ])('is not %j', (message) => {
    expect(isStatusMessage(message)).toBe(false);
  });
});

describe('the message of a misfit', () => {
  it('is one line without characters that turn or break it', () => {
    expect(misfitMessage(' two\r\nlines,\u202e turned\u2028and\u2029 \u0000broken\ue000\u0378\ud800 ')).toBe(
      'two lines, turned and broken',
    );
    expect(misfitMessage('São  João: 12 €')).toBe('São João: 12 €');
  });

  it('is cut at 400 characters, as people count them', () => {
    expect(misfitMessage('é'.repeat(400))).toBe('é'.repeat(400));
    expect(misfitMessage('🧾'.repeat(401))).toBe(`${'🧾'.repeat(399)}…`);
  });
});

describe('a word of the service', () => {
  it.each(['ISSUED', 'não_emitida', 'a.b:c/d-e', 'code-1234', '1234.5678'])('that is plain is shown: %s', (word) => {
    expect(shownWord(word)).toBe(`"${word}"`);
  });

  it.each([
    ['500123456', 9],
    ['nif-12345', 9],
    ['Ana Silva', 9],
    ['a@b', 3],
    ['', 0],
    ['<b', 2],
    ['b>', 2],
  ])('that may name a person is shown by its length alone: %j', (word, length) => {
    expect(shownWord(word)).toBe(`(a text of ${length} characters)`);
  });

  it('is cut at 40 characters', () => {
    expect(shownWord('a'.repeat(40))).toBe(`"${'a'.repeat(40)}"`);
    expect(shownWord('a'.repeat(41))).toBe(`"${'a'.repeat(39)}…"`);
  });
});
