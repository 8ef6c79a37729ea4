import type { Language } from '../languages.ts';
import { NIGHT_TEXTS_EN } from './en.ts';
import { NIGHT_TEXTS_ES } from './es.ts';
import type { NightTexts } from './en.ts';
import { NIGHT_TEXTS_PT } from './pt.ts';

/** The words about nights by language. */
export const NIGHT_TEXTS: Readonly<Record<Language, NightTexts>> = {
  en: NIGHT_TEXTS_EN,
  pt: NIGHT_TEXTS_PT,
  es: NIGHT_TEXTS_ES,
};
