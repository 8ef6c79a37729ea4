/** Languages in which Lote speaks to people. Who asks for none of them gets English. */
export const LANGUAGES = ['en', 'pt', 'es'] as const;

/** Language of a page, a file or a message for people. */
export type Language = (typeof LANGUAGES)[number];

/** How a page, a file or a message is spoken: its words, and the locale in which its numbers and times are written. */
export interface Speech {
  readonly language: Language;
  /** The reader's own, e.g. `pt-BR`: same words, its own number marks. */
  readonly locale: string;
}

/** Language and region only: Intl throws at what follows them when it is ill-formed, and headers come from anywhere. */
const TAG = /^([A-Za-z]{2})(?:-([A-Za-z]{2}|\d{3}))?(?![A-Za-z0-9])/u;

/** The language where no person chose one. */
export const ENGLISH: Speech = { language: 'en', locale: 'en' };

/** The first language of a browser's list, or of `LOTE_LANGUAGE`, that Lote speaks; English otherwise. */
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
