import type { ConsoleTexts } from './console-texts.ts';
import { TEXTS_EN } from './texts-en.ts';
import { TEXTS_ES } from './texts-es.ts';
import { TEXTS_PT } from './texts-pt.ts';

/** Languages of the console. A browser that asks for none of them gets English. */
export const LANGUAGES = ['en', 'pt', 'es'] as const;

/** Language of a console page. */
export type Language = (typeof LANGUAGES)[number];

/** All texts of the console by language. */
export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };
