/** Languages of the texts for people; English is the default. */
export const LANGUAGES = ['en', 'pt', 'es'] as const;

/** Language of a page, a file or a message for people. */
export type Language = (typeof LANGUAGES)[number];

/** Words and locale of a page, a file or a message; numbers and times follow the locale. */
export interface Speech {
  readonly language: Language;
  /** The reader's own locale, e.g. `pt-BR`: the same words with its own number marks. */
  readonly locale: string;
}

/** Language and region only, because Intl throws at a malformed remainder, and any client can send headers. */
const TAG = /^([A-Za-z]{2})(?:-([A-Za-z]{2}|\d{3}))?(?![A-Za-z0-9])/u;

/** The default language. */
export const ENGLISH: Speech = { language: 'en', locale: 'en' };

/** Returns the first language of a browser's list, or of `LOTE_LANGUAGE`, that Lote has; English otherwise. */
export function chooseLanguage(acceptLanguage: string): Speech {
  const wanted = acceptLanguage
    .split(',')
    .map((entry) => {
      const [tag = '', ...parameters] = entry.trim().split(';');
      const quality = parameters
        .map((parameter) => /^\s*q=([\d.]+)\s*$/u.exec(parameter)?.[1])
        .find((value) => value !== undefined);
      return { tag, quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { tag } of wanted) {
    const [, primary, region] = TAG.exec(tag) ?? [];
    const language = LANGUAGES.find((known) => known === primary?.toLowerCase());
    if (language !== undefined) return { language, locale: region === undefined ? language : `${language}-${region}` };
  }
  return ENGLISH;
}
