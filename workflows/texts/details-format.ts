import { chooseLanguage, type Language } from '../../src/texts/languages.ts';
import { documentFormat, type SpeechFormat } from '../../src/texts/speech-format.ts';
import { type DetailsTexts, DETAILS_TEXTS_EN } from './en.ts';
import { DETAILS_TEXTS_ES } from './es.ts';
import { DETAILS_TEXTS_PT } from './pt.ts';

/** All words of the current details by language. */
export const DETAILS_TEXTS: Readonly<Record<Language, DetailsTexts>> = {
  en: DETAILS_TEXTS_EN,
  pt: DETAILS_TEXTS_PT,
  es: DETAILS_TEXTS_ES,
};

/** Words, numbers and times of the current details. */
export interface DetailsFormat extends SpeechFormat {
  readonly texts: DetailsTexts;
}

/** Returns the format for the language that an activity reported (its worker's `LOTE_LANGUAGE`), if any. No command of a workflow depends on it. */
export function detailsFormat(language: string | undefined): DetailsFormat {
  const speech = chooseLanguage(language ?? 'en');
  return { ...documentFormat(speech), texts: DETAILS_TEXTS[speech.language] };
}
