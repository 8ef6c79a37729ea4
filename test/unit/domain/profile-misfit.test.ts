import { describe, expect, it } from 'vitest';
import { misfitMessage, shownWord } from '../../../src/domain/profile-misfit.ts';

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
