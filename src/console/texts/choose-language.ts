import { LANGUAGES } from './text-catalogue.ts';
import type { Language } from './text-catalogue.ts';

/** How a page is spoken: texts, and the locale in which its numbers and times are written. */
export interface Speech {
  readonly language: Language;
  /** The browser's own, e.g. `pt-BR`: same texts, its own number marks. */
  readonly locale: string;
}

/** Language and region only: Intl throws at what follows them when it is ill-formed, and headers come from anywhere. */
const TAG = /^([A-Za-z]{2})(?:-([A-Za-z]{2}|\d{3}))?(?![A-Za-z0-9])/u;

/** The first language of the browser's list that the console speaks; English otherwise. */
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
  return { language: 'en', locale: 'en' };
}
