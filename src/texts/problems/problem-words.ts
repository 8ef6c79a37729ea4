import type { Reason } from '../../domain/invoice.ts';
import type { Outcome } from '../../domain/invoice-state.ts';
import { isStatusMessage } from '../../domain/text/status-message.ts';
import { html, type SafeHtml } from '../html.ts';
import type { SpeechFormat } from '../speech-format.ts';
import type { Language } from '../languages.ts';
import { PROBLEM_TEXTS_ES } from './es.ts';
import { PROBLEM_TEXTS_PT, type ProblemCode } from './pt.ts';

const PROBLEM_TEXTS = { pt: PROBLEM_TEXTS_PT, es: PROBLEM_TEXTS_ES };

/** What a code of Lote means in the reader's language; null in English, and for a code that is not Lote's. */
export function problemText(code: string, language: Language): string | null {
  if (language === 'en') return null;
  const texts = PROBLEM_TEXTS[language];
  return Object.hasOwn(texts, code) ? texts[code as ProblemCode] : null;
}

/** In these states the service has spoken: a code of its own may be one of Lote's by chance. */
const OF_THE_SERVICE: ReadonlySet<Outcome> = new Set(['rejected', 'failed']);

/** A request has left, or may have: the reason of an earlier or later try may stand there, and say "not sent". */
const MAY_BE_ISSUED: ReadonlySet<Outcome> = new Set(['sending', 'accepted', 'unknown', 'unsettled']);

/** What is true of an invoice that may be issued, whichever try it was written for. */
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

/** Lote's own, with the answer of the service behind it. The client lets no code of the service pass for one of these. */
const OF_AN_ANSWER = new Set<string>([
  'answer-unreadable',
  'key-known-with-other-bytes',
  'redirect',
] satisfies readonly ProblemCode[]);

/** What is wrong, in the reader's language, and Lote's own English words behind it. `state`: of the invoice whose reason it is. */
export function problemWords(
  { language }: Pick<SpeechFormat, 'language'>,
  { code, message }: Pick<Reason, 'code' | 'message'>,
  state?: Outcome,
): SafeHtml {
  const words = state === undefined || isTranslated({ code, message }, state) ? problemText(code, language) : null;
  return words === null ? html`${message}` : html`${words} <span class="soft" lang="en">${message}</span>`;
}

/** The same code is written at several places: the words for it must hold of this invoice, and not only of another. */
function isTranslated({ code, message }: Pick<Reason, 'code' | 'message'>, state: Outcome): boolean {
  if (OF_THE_SERVICE.has(state)) return false;
  if (isStatusMessage(message) && !OF_AN_ANSWER.has(code)) return false;
  return !MAY_BE_ISSUED.has(state) || TRUE_OF_WHAT_MAY_BE_ISSUED.has(code);
}
