import type { Language } from '../languages.ts';
import { PROBLEM_TEXTS_ES } from './es.ts';
import type { ProblemCode, ProblemTexts } from './problem-codes.ts';
import { PROBLEM_TEXTS_PT } from './pt.ts';

/** English needs none: Lote's own messages are English. */
const PROBLEM_TEXTS: Readonly<Record<Exclude<Language, 'en'>, ProblemTexts>> = {
  pt: PROBLEM_TEXTS_PT,
  es: PROBLEM_TEXTS_ES,
};

/** What a code of Lote means in the reader's language; null in English, and for a code that is not Lote's. */
export function problemText(code: string, language: Language): string | null {
  if (language === 'en') return null;
  const texts = PROBLEM_TEXTS[language];
  return Object.hasOwn(texts, code) ? texts[code as ProblemCode] : null;
}
