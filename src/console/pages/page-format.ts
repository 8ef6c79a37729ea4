import type { Language, Speech } from '../../texts/languages.ts';
import { type ConsoleTexts, TEXTS_EN } from '../texts/en.ts';
import { TEXTS_ES } from '../texts/es.ts';
import { TEXTS_PT } from '../texts/pt.ts';
import { speechFormat, type SpeechFormat } from '../../texts/speech-format.ts';
import { formAction } from '../forms/form-token.ts';

/** Texts, numbers and times in the form that one reader expects. */
export interface PageFormat extends SpeechFormat {
  readonly texts: ConsoleTexts;
  readonly formToken: string;
  action(address: string): string;
}

/** Returns the format for one reader. Without `timeZone`, times are in the machine's zone. */
export function pageFormat(speech: Speech, timeZone?: string, formToken = ''): PageFormat {
  return {
    ...speechFormat(speech, { timeZone }),
    texts: CONSOLE_TEXTS[speech.language],
    formToken,
    action: (address) => formAction(address, formToken),
  };
}

/** All texts of the console by language. */
export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };
