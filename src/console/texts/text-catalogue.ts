import type { ConsoleTexts } from './console-texts.ts';
import { TEXTS_EN } from './en/texts.ts';
import { TEXTS_ES } from './es/texts.ts';
import { TEXTS_PT } from './pt/texts.ts';

/** Languages of the console. A browser that asks for none of them gets English. */
export const LANGUAGES = ['en', 'pt', 'es'] as const;

/** Language of a console page. */
export type Language = (typeof LANGUAGES)[number];

/** All texts of the console by language. */
export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };
