import type { Speech, Language } from '../../texts/languages.ts';
import { documentFormat, type SpeechFormat } from '../../texts/speech-format.ts';
import { fill, pluralForm } from '../../texts/fill.ts';
import type { ReportNote } from '../report-model.ts';
import { REPORT_TEXTS_EN, type ReportTexts } from './en.ts';
import { REPORT_TEXTS_ES } from './es.ts';
import { REPORT_TEXTS_PT } from './pt.ts';

/** All texts of the report by language. */
export const REPORT_TEXTS: Readonly<Record<Language, ReportTexts>> = {
  en: REPORT_TEXTS_EN,
  pt: REPORT_TEXTS_PT,
  es: REPORT_TEXTS_ES,
};

/** Texts, numbers and times of a report in the form that its readers expect. */
export interface ReportFormat extends SpeechFormat {
  readonly texts: ReportTexts;
}

/** Returns the format of report.html for the readers of an installation. */
export function reportFormat(speech: Speech): ReportFormat {
  return { ...documentFormat(speech), texts: REPORT_TEXTS[speech.language] };
}

/** Returns a note as a sentence. */
export function noteText(
  { language, texts: { notes } }: Pick<ReportFormat, 'language' | 'texts'>,
  note: ReportNote,
): string {
  const n = 'n' in note ? note.n : 0;
  const cause = 'cause' in note ? note.cause : '';
  return fill(pluralForm(notes[note.kind], n, language), { n: String(n), cause });
}

/** Returns a note in English, because programs read one language. */
export function englishNote(note: ReportNote): string {
  return noteText({ language: 'en', texts: REPORT_TEXTS_EN }, note);
}
