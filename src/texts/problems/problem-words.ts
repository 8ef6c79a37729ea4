import type { Reason } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { isStatusMessage } from '../../domain/text/status-message.ts';
import { html, type SafeHtml } from '../html.ts';
import type { SpeechFormat } from '../speech-format.ts';
import type { Language } from '../languages.ts';
import { PROBLEM_TEXTS_ES } from './es.ts';
import { PROBLEM_TEXTS_PT, type ProblemCode } from './pt.ts';

const PROBLEM_TEXTS = { pt: PROBLEM_TEXTS_PT, es: PROBLEM_TEXTS_ES };

/** Returns the meaning of a code in the reader's language; null in English, and for a code that is not Lote's. */
export function problemText(code: string, language: Language): string | null {
  if (language === 'en') return null;
  const texts = PROBLEM_TEXTS[language];
  return Object.hasOwn(texts, code) ? texts[code as ProblemCode] : null;
}

/** In these states the service has answered, and its code may equal one of Lote's by chance. */
const OF_THE_SERVICE: ReadonlySet<Outcome> = new Set(['rejected', 'failed']);

/** In these states a request may have left, and the reason may come from another attempt and say "not sent". */
const MAY_BE_ISSUED: ReadonlySet<Outcome> = new Set(['sending', 'accepted', 'unknown', 'unsettled']);

/** Codes whose text holds for an invoice that may be issued, whichever attempt wrote them. */
const TRUE_OF_WHAT_MAY_BE_ISSUED = new Set<string>([
  'answer-broken',
  'answer-lost',
  'answer-unreadable',
  'being-sent',
  'earlier-key-unclear',
  'key-known-with-other-bytes',
  'no-final-answer',
  'page-failed',
  'redirect',
  'refused-after-lost-answer',
  'retention-window-over',
  'run-lost',
  'service-id-taken',
  'stored-error',
  'waiting-for-final-word',
] satisfies readonly ProblemCode[]);

/** Lote's own codes with an answer of the service behind them. The client never passes a code of the service for one of these. */
const OF_AN_ANSWER = new Set<string>([
  'answer-unreadable',
  'key-known-with-other-bytes',
  'redirect',
] satisfies readonly ProblemCode[]);

/** Returns the problem in the reader's language, followed by Lote's English words. `state` is that of the invoice. */
export function problemWords(
  { language }: Pick<SpeechFormat, 'language'>,
  { code, message }: Pick<Reason, 'code' | 'message'>,
  state?: Outcome,
): SafeHtml {
  const words = state === undefined || isTranslated({ code, message }, state) ? problemText(code, language) : null;
  return words === null ? html`${message}` : html`${words} <span class="soft" lang="en">${message}</span>`;
}

/** Checks that the translation holds for this invoice, because several places write the same code. */
function isTranslated({ code, message }: Pick<Reason, 'code' | 'message'>, state: Outcome): boolean {
  if (OF_THE_SERVICE.has(state)) return false;
  if (isStatusMessage(message) && !OF_AN_ANSWER.has(code)) return false;
  return !MAY_BE_ISSUED.has(state) || TRUE_OF_WHAT_MAY_BE_ISSUED.has(code);
}
