import type { SeenStatus, StatusAnswer } from '../domain/ports/invoicing-service.ts';
import { isOneOf, wordAt } from '../service-profile/word.ts';
import { classify } from './classify.ts';
import { errorText } from './error-text.ts';
import { documentOf, type ExchangeResult } from './exchange-result.ts';
import { readPlace, shownPlace, type Place } from '../service-profile/place.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { reasonCode } from '../service-profile/reason-code.ts';
import { reasonText } from '../service-profile/reason-text.ts';
import { look, shortWord, type CreationShape } from './seen-answer.ts';

/** What services write at the place of a reason when there is none. */
const NO_REASON = /^(?:0|false|none|null|ok|success)$/i;

/** What a GET of an invoice says. A word that the profile does not know is `processing`: it is not final. */
export function readStatus(
  end: ExchangeResult,
  asked: { readonly serviceId: string; readonly profile: ServiceProfile; readonly shape: CreationShape },
): StatusAnswer {
  const { invoice } = asked.profile;
  const seen = look(end, asked.shape);
  if (!seen.success) return withoutStatus(end, asked.shape);
  const document = documentOf(end);
  const status = wordAt(readPlace(document, invoice.status));
  if (seen.serviceId !== asked.serviceId) {
    const doubtful = status !== null && !isOneOf(status, invoice.failed);
    return { ...notProvedItsOwn(seen.hasId, invoice.id), doubtful };
  }
  const codeWord = wordAt(readPlace(document, invoice.reasonCode));
  const text = errorText(readPlace(document, invoice.reasonMessage));
  const place = shownPlace(invoice.status);
  const why = codeWord === null || NO_REASON.test(codeWord) ? (text === null ? null : 'text') : 'code';
  const stands: SeenStatus = { word: shortWord(status), place, why };
  if (status === null) return { ...unreadable('status-unreadable', `No status at ${place}`), seen: stands };
  if (isOneOf(status, invoice.issued)) return { kind: 'status', status: 'issued', reason: null, seen: stands };
  if (!isOneOf(status, invoice.failed)) return { kind: 'status', status: 'processing', reason: null, seen: stands };
  const message = reasonText(text ?? 'The service gave no reason');
  const reason = why === null ? null : { code: reasonCode(codeWord) ?? 'failed', message };
  return { kind: 'status', status: 'failed', reason, seen: stands };
}

function withoutStatus(end: ExchangeResult, shape: CreationShape): StatusAnswer {
  const answer = classify(end, shape);
  if (answer.kind === 'refused' || answer.kind === 'key-mismatch')
    return { kind: 'status', status: 'unreadable', reason: answer.reason };
  if (answer.kind === 'created' || answer.kind === 'not-permitted') return unreadable('status-unreadable', 'No status');
  return { kind: 'not-now', reason: answer.reason, retryAfterMs: answer.retryAfterMs };
}

/** A cache or a gateway may answer for the service: only the id shows which invoice the answer is about. */
function notProvedItsOwn(hasId: boolean, place: Place): Unreadable {
  if (hasId) return unreadable('another-invoice-answered', 'The answer carries the id of another invoice');
  return unreadable(
    'status-without-id',
    `No id at ${shownPlace(place)}, and so no proof that the answer is about this invoice`,
  );
}

type Unreadable = Extract<StatusAnswer, { status: 'unreadable' }>;

function unreadable(code: string, message: string): Unreadable {
  return { kind: 'status', status: 'unreadable', reason: { code, message } };
}
