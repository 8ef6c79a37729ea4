import { describe, expect, it } from 'vitest';
import { fill, pluralForm } from '../../../../src/console/texts/fill.ts';
import { CONSOLE_TEXTS, LANGUAGES } from '../../../../src/console/texts/text-catalogue.ts';

/** Every text under its path, `dryRun.some.one`. */
function flat(value: unknown, path = ''): readonly (readonly [path: string, text: string])[] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([name, entry]) =>
    flat(entry, path === '' ? name : `${path}.${name}`),
  );
}

/** Words that are the same in two languages, or that no language translates. */
const MAY_BE_EQUAL = new Set([
  'file',
  'temporalUi',
  'invoice.key',
  'life.webhook',
  'life.settled',
  'life.sources.webhook',
  'search.xlsx',
  'severities.error',
  'batches',
]);

const english = new Map(flat(CONSOLE_TEXTS.en));

describe.each(LANGUAGES)('the catalogue of texts in %s', (language) => {
  const texts = flat(CONSOLE_TEXTS[language]);

  it('has every text, and none of them is empty', () => {
    expect(texts.map(([path]) => path)).toEqual([...english.keys()]);
    expect(texts.filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  it('has the same places for numbers and words as the English one', () => {
    const places = (text: string) => [...new Set([...text.matchAll(/\{\w+\}/gu)].map(([place]) => place))].sort();

    // A singular may say its number in words.
    const differing = texts.filter(
      ([path, text]) => !path.endsWith('.one') && places(text).join() !== places(english.get(path) ?? '').join(),
    );

    expect(differing).toEqual([]);
  });
});

it.each(LANGUAGES.filter((language) => language !== 'en'))(
  'the catalogue in %s leaves nothing in English',
  (language) => {
    const untranslated = flat(CONSOLE_TEXTS[language]).filter(
      ([path, text]) => !MAY_BE_EQUAL.has(path) && text === english.get(path) && /[a-z]{4}/u.test(text),
    );

    expect(untranslated).toEqual([]);
  },
);

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
    expect(pluralForm({ one: 'one', other: 'other' }, n, language)).toBe(form);
  });
});
