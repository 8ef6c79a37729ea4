import { describe, expect, it } from 'vitest';
import { CONSOLE_TEXTS } from '../../../src/console/http/page-answers.ts';
import { REPORT_TEXTS } from '../../../src/report/texts/report-format.ts';
import { LANGUAGES, type Language } from '../../../src/texts/languages.ts';

/** The words about nights are part of those of the console. */
const CATALOGUES: Readonly<Record<string, Readonly<Record<Language, unknown>>>> = {
  'the console': CONSOLE_TEXTS,
  'the report': REPORT_TEXTS,
};

/** Every text under its path, `dryRun.some`. */
function flat(value: unknown, path = ''): readonly (readonly [path: string, text: string])[] {
  if (value === null) return [];
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([name, entry]) =>
    flat(entry, path === '' ? name : `${path}.${name}`),
  );
}

/** Words that are the same in two languages, or that no language translates. */
const MAY_BE_EQUAL = new Set(
  'heads.file temporalUi invoice.key life.webhook life.settled life.sources.webhook severities.error batches balance'.split(
    ' ',
  ),
);

describe.each(Object.entries(CATALOGUES))('the texts of %s', (_, catalogue) => {
  const english = new Map(flat(catalogue.en));

  it.each(LANGUAGES)('in %s have every text, and none of them is empty', (language) => {
    const texts = flat(catalogue[language]);

    expect(texts.map(([path]) => path).toSorted()).toEqual([...english.keys()].toSorted());
    expect(texts.filter(([, text]) => text.trim() === '')).toEqual([]);
  });

  it.each(LANGUAGES)('in %s have the same places for numbers and words as the English ones', (language) => {
    const places = (text: string) => [...new Set([...text.matchAll(/\{\w+\}/gu)].map(([place]) => place))].sort();

    const differing = flat(catalogue[language]).filter(
      ([path, text]) => places(text).join() !== places(english.get(path) ?? '').join(),
    );

    expect(differing).toEqual([]);
  });

  it.each(LANGUAGES)('in %s have brackets around pairs of words alone', (language) => {
    const odd = flat(catalogue[language]).filter(([, text]) =>
      /[[\]]/u.test(text.replaceAll(/\[[^|[\]]*\|[^|[\]]*\]/gu, '')),
    );

    expect(odd).toEqual([]);
  });

  it.each(LANGUAGES.filter((language) => language !== 'en'))('in %s leave nothing in English', (language) => {
    const untranslated = flat(catalogue[language]).filter(
      ([path, text]) => !MAY_BE_EQUAL.has(path) && text === english.get(path) && /[a-z]{4}/u.test(text),
    );

    expect(untranslated).toEqual([]);
  });
});

describe('the words for readers', () => {
  const all = (language: Language) => Object.values(CATALOGUES).flatMap((catalogue) => flat(catalogue[language]));

  it.each([
    ['pt', /não (?:foi|foram|é|são) emitid|por emitir|nem tudo foi emitido/iu],
    ['es', /no se emit|sin emitir/iu],
  ] as const)('in %s never call an invoice not issued: the counts have those that may be', (language, claim) => {
    expect(all(language).filter(([, text]) => claim.test(text))).toEqual([]);
  });

  it.each(['pt', 'es'] as const)('in %s have one word for the merchant', (language) => {
    expect(all(language).filter(([, text]) => /comerciante/iu.test(text))).toEqual([]);
  });
});
