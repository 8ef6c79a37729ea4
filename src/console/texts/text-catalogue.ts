import type { Language } from '../../texts/languages.ts';
import type { ConsoleTexts } from './console-texts.ts';
import { TEXTS_EN } from './en/texts.ts';
import { TEXTS_ES } from './es/texts.ts';
import { TEXTS_PT } from './pt/texts.ts';

/** All texts of the console by language. */
export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };
