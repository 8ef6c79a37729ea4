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

/** Returns the first language of a browser's list, or of `LOTE_LANGUAGE`, that Lote has; English otherwise. Browsers list the preferred language first. */
export function chooseLanguage(acceptLanguage: string): Speech {
  for (const entry of acceptLanguage.split(',')) {
    const [, primary, region] = TAG.exec(entry.trim()) ?? [];
    const language = LANGUAGES.find((known) => known === primary?.toLowerCase());
    if (language !== undefined) return { language, locale: region === undefined ? language : `${language}-${region}` };
  }
  return ENGLISH;
}
