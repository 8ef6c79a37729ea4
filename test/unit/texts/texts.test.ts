import { describe, expect, it } from 'vitest';
import { fill, plainText, pluralForm } from '../../../src/texts/fill.ts';
import { html, type HtmlValue } from '../../../src/texts/html.ts';
import { chooseLanguage } from '../../../src/texts/languages.ts';
import { speechFormat } from '../../../src/texts/speech-format.ts';

describe('chooseLanguage', () => {
  it.each([
    ['pt', { language: 'pt', locale: 'pt' }],
    ['PT-br', { language: 'pt', locale: 'pt-br' }],
    ['fr, es;q=0.9, en;q=0.1', { language: 'es', locale: 'es' }],
    ['*', { language: 'en', locale: 'en' }],
    ['est', { language: 'en', locale: 'en' }],
    ['pt-"><script>', { language: 'pt', locale: 'pt' }],
    [';;;,,,q=', { language: 'en', locale: 'en' }],
    ['es;q=NaN', { language: 'es', locale: 'es' }],
    ['pt-PT-PT', { language: 'pt', locale: 'pt-PT' }],
  ])('reads %j', (header, expected) => {
    expect(chooseLanguage(header)).toEqual(expected);
  });

  it.each(['pt-x-a', 'pt-12345678', 'es-419', 'en-US-u-nu-arab', 'pt-PT-PT', `pt-${'a'.repeat(500)}`, 'ptx-'])(
    'gives a locale that numbers can be written in: %s',
    (header) => {
      expect(speechFormat(chooseLanguage(header)).count(1)).toBe('1');
    },
  );
});

describe('fill', () => {
  it('puts words into their places and leaves what it does not know', () => {
    expect(fill('{n} of {of} {x}', { n: '1', of: '2' })).toBe('1 of 2 {x}');
    expect(fill('{n}', { n: '{of}', of: 'no' })).toBe('{of}');
  });

  it.each([
    [0, 'en', 'other'],
    [1, 'en', 'one'],
    [0, 'pt', 'other'],
    [1, 'pt', 'one'],
    [2, 'pt', 'other'],
    [1_000_000, 'es', 'other'],
  ])('takes the form of %d in %s: %s', (n, language, form) => {
    expect(pluralForm('[one|other]', n, language)).toBe(form);
  });
});

describe('html', () => {
  it('escapes text, numbers in lists and what comes from a file', () => {
    const name = `<b>"a" & 'b'</b>`;
    const { safe } = html`<p title="${name}">${[name, 1, html`<i>${name}</i>`]}</p>`;
    const escaped = '&lt;b&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/b&gt;';
    expect(safe).toBe(`<p title="${escaped}">${escaped}1<i>${escaped}</i></p>`);
  });

  it('takes no object that was read from a file for HTML', () => {
    const forged = JSON.parse('{"safe":"<script>"}') as HtmlValue;
    expect(html`<p>${forged} ${[forged]}</p>`.safe).not.toContain('<script>');
  });
});

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
