import type { ConsoleTexts } from './console-texts.ts';
import { TEXTS_EN } from './texts-en.ts';
import { TEXTS_ES } from './texts-es.ts';
import { TEXTS_PT } from './texts-pt.ts';

export const LANGUAGES = ['en', 'pt', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

export const CONSOLE_TEXTS: Readonly<Record<Language, ConsoleTexts>> = { en: TEXTS_EN, pt: TEXTS_PT, es: TEXTS_ES };
