import { LANGUAGES } from './console-texts.ts';
import type { Language } from './console-texts.ts';

/** How a page is spoken: texts, and the locale in which its numbers and times are written. */
export interface Speech {
  readonly language: Language;
  /** The browser's own, e.g. `pt-BR`: same texts, its own number marks. */
  readonly locale: string;
}

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
    .filter(({ tag, quality }) => quality > 0 && /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/u.test(tag))
    .sort((a, b) => b.quality - a.quality);
  for (const { tag } of wanted) {
    const language = LANGUAGES.find((known) => known === tag.slice(0, 2).toLowerCase() && /^..(?:-|$)/u.test(tag));
    if (language !== undefined) return { language, locale: tag };
  }
  return { language: 'en', locale: 'en' };
}
