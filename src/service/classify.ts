import type { Reason } from '../domain/invoice.ts';
import { shownPlace } from './profile/place.ts';
import { REQUEST_NOT_SENT } from './exchange.ts';
import { documentOf, type ExchangeResult } from './exchange-result.ts';
import { HOLDING_STATUSES } from './limits/backoff.ts';
import type { ServiceProfile } from './profile/profile.ts';
import { look, type AnsweredObject, type Seen, statusReason } from './seen-answer.ts';
import { reasonText } from './profile/reason-text.ts';
import type { CreateAnswer } from '../domain/records/service-answers.ts';

/** One row of the table: the first row that applies decides. */
export interface ClassificationRow {
  readonly when: string;
  readonly applies: (seen: Seen) => boolean;
  readonly answer: (seen: Seen) => CreateAnswer;
}

/**
 * By HTTP, the service did not and will not carry out a request that it answers with one of these. They are listed, so
 * that an unexpected status is never a refusal.
 */
const DEFINITIVE = new Set([
  400, 402, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 424, 426, 428, 431, 451,
]);

/** One of its meanings: another request under the same key is under way. */
const CONFLICT = 409;

/** The service (or a proxy) does not accept Lote's credentials. The trouble never concerns a single invoice. */
const ACCESS_DENIED_STATUSES = new Set([401, 403, 407]);

/**
 * What the end of a creating POST proves (DESIGN, Sending). Two mistakes would be fatal: to report a failure although
 * the invoice may exist, and to report a success although it does not. So every unknown answer is `lost`, and Lote
 * repeats the same key and bytes. Lote ignores the content type: the body is JSON with an id, or it is not.
 */
export const CLASSIFICATION: readonly ClassificationRow[] = [
  { when: 'no byte left this process', applies: (s) => s.end.kind === 'not-sent', answer: notSent },
  {
    when: 'its permit was over before a byte left',
    applies: (s) => s.end.kind === 'not-permitted',
    answer: () => ({ kind: 'not-permitted' }),
  },
  { when: 'the exchange broke after bytes may have left', applies: (s) => s.end.kind === 'broken', answer: broken },
  {
    when: 'a rule of the profile says that the key created it before, and the answer carries its id',
    applies: (s) => s.meaning === 'exists',
    answer: (s) =>
      s.existingId === null ? lost(s, 'answer-without-id') : { kind: 'created', serviceId: s.existingId },
  },
  {
    when: 'a rule of the profile: nothing is certain',
    applies: (s) => s.meaning === 'lost',
    answer: lostByRule,
  },
  { when: 'a rule of the profile: the key is known', applies: (s) => s.meaning === 'mismatch', answer: keyMismatch },
  {
    when: 'a rule of the profile calls an answer with a usable id no success: it contradicts itself',
    applies: (s) => s.meaning !== null && s.serviceId !== null,
    answer: (s) => lost(s, 'answer-contradictory'),
  },
  {
    when: 'a rule of the profile: refused; a status from 500 on or a code of a known key proves nothing',
    applies: (s) => s.meaning === 'refused' && s.status < 500 && !s.mismatch,
    answer: (s) => ({ kind: 'refused', reason: reason(s) }),
  },
  { when: 'a rule of the profile: later', applies: (s) => s.meaning === 'later', answer: notNow },
  {
    when: 'a rule of the profile: the service rejects this API key',
    applies: (s) => s.meaning === 'access',
    answer: (s) => accessDenied(s, { code: `http-${s.status}`, mayExist: false }),
  },
  {
    when: 'a success with a usable id',
    applies: (s) => s.success && s.serviceId !== null,
    answer: (s) => ({
      ...{ kind: 'created', serviceId: s.serviceId ?? '' },
      ...(s.word !== undefined && { word: s.word }),
    }),
  },
  {
    when: 'a success with an id of another kind',
    applies: (s) => s.success && s.hasId,
    answer: (s) => unreadable(s, 'answer-id-unusable', 'an id of another kind'),
  },
  {
    when: 'a success that is JSON without an id',
    applies: (s) => s.success && isJson(s),
    answer: (s) => unreadable(s, 'answer-without-id', 'no id'),
  },
  {
    when: 'a 2xx that is no success by the profile, and does not say by what status it is judged',
    applies: (s) => !s.success && within(s, 200, 299),
    answer: (s) => lost(s, 'answer-not-a-success'),
  },
  {
    when: 'a success that is longer than Lote reads: each repeat would bring the same',
    applies: (s) =>
      s.success && s.end.kind === 'answer' && s.end.body.kind === 'unreadable' && s.end.body.why === 'oversize',
    answer: (s) => ({ ...lost(s, 'answer-too-long'), isSameAgain: true }) as CreateAnswer,
  },
  { when: 'a success that cannot be read', applies: (s) => s.success, answer: (s) => lost(s, 'answer-unreadable') },
  {
    when: '3xx: never followed, the key goes nowhere else; a 303 answers a POST that worked',
    applies: (s) => within(s, 300, 399),
    answer: (s) => accessDenied(s, { code: 'redirect', mayExist: true }),
  },
  {
    when: 'an error code that says the key is known with other bytes',
    applies: (s) => s.mismatch,
    answer: keyMismatch,
  },
  {
    when: 'an error status with a usable id: it contradicts itself',
    applies: (s) => s.serviceId !== null,
    answer: (s) => lost(s, 'answer-contradictory'),
  },
  {
    when: '401, 403, 407',
    applies: (s) => ACCESS_DENIED_STATUSES.has(s.status),
    answer: (s) => accessDenied(s, { code: `http-${s.status}`, mayExist: false }),
  },
  { when: '425, 429', applies: (s) => s.status === 425 || s.status === 429, answer: notNow },
  {
    when: 'a definitive 4xx with an error where the profile says that the service puts it',
    applies: (s) => DEFINITIVE.has(s.status) && saysError(s),
    answer: (s) => ({ kind: 'refused', reason: reason(s) }),
  },
  {
    when: 'a definitive 4xx that is not known to be the service speaking (HTML, empty, cut short, JSON of a gateway)',
    applies: (s) => DEFINITIVE.has(s.status),
    answer: unreadableNo,
  },
  { when: '408, 409, 5xx and every status not named above', applies: () => true, answer: (s) => lost(s, null) },
];

/** Decides what the end of a creating POST proves; see CLASSIFICATION. */
export function classify(end: ExchangeResult, profile: ServiceProfile, of: AnsweredObject): CreateAnswer {
  const seen = look(end, profile, of);
  const row = CLASSIFICATION.find((candidate) => candidate.applies(seen));
  return row === undefined ? lost(seen, null) : row.answer(seen);
}

function within(seen: Seen, from: number, to: number): boolean {
  return seen.status >= from && seen.status <= to;
}

function isJson(seen: Seen): boolean {
  return seen.end.kind === 'answer' && seen.end.body.kind === 'json';
}

/** Tells whether the body is a text of the service, and not the HTML page of a gateway. */
function isText(seen: Seen): boolean {
  return documentOf(seen.end).text !== undefined;
}

/** A gateway may answer 404 and 413 in JSON of its own, although the service carried out the request. */
function saysError(seen: Seen): boolean {
  return seen.errorCode !== null || seen.errorMessage !== null;
}

function retryAfter(seen: Seen): number | null {
  return 'retryAfterMs' in seen.end ? seen.end.retryAfterMs : null;
}

function reason(seen: Seen): Reason {
  const unreadable =
    seen.end.kind === 'answer' && seen.end.body.kind === 'unreadable' ? `answer ${seen.end.body.why}` : null;
  return statusReason(seen.status, { code: seen.errorCode, message: seen.errorMessage ?? unreadable });
}

function notSent(seen: Seen): CreateAnswer {
  const code = seen.end.kind === 'not-sent' ? seen.end.code : REQUEST_NOT_SENT;
  return {
    kind: 'not-now',
    reason: { code, message: reasonText(`This request was not sent (${code})`) },
    retryAfterMs: retryAfter(seen),
  };
}

function broken(seen: Seen): CreateAnswer {
  const code = seen.end.kind === 'broken' ? seen.end.code : 'answer-lost';
  return {
    kind: 'lost',
    reason: { code, message: reasonText(`The request may have arrived and no answer came (${code})`) },
    retryAfterMs: null,
  };
}

/** A profile may call any status `later`: a 403 of an account that asks too often, a 409 of a key in work. */
function notNow(seen: Seen): CreateAnswer {
  const delay = seen.status === CONFLICT ? delayOf(seen) : { retryAfterMs: retryAfter(seen) };
  return { kind: 'not-now', reason: reason(seen), ...delay };
}

function keyMismatch(seen: Seen): CreateAnswer {
  return { kind: 'key-mismatch', reason: { code: 'key-known-with-other-bytes', message: reason(seen).message } };
}

/** Uses Lote's own code instead of the service's: callers tell 403 from 401 by it. */
function accessDenied(
  seen: Seen,
  { code, mayExist }: { readonly code: string; readonly mayExist: boolean },
): CreateAnswer {
  const { message } = reason(seen);
  return { kind: 'access-denied', reason: { code, message }, retryAfterMs: retryAfter(seen), mayExist };
}

function unreadableNo(seen: Seen): CreateAnswer {
  const answer = lost(seen, `http-${seen.status}-unreadable`);
  if (!(isJson(seen) || isText(seen))) return answer;
  const message = `HTTP ${seen.status}: no text at the places error.code and error.message of the service profile`;
  return { ...answer, reason: { ...answer.reason, message }, unreadError: true };
}

/** A rule may call temporary trouble lost; a lost 2xx or definitive 4xx is an answer that the profile cannot read. */
function lostByRule(seen: Seen): CreateAnswer {
  const isAnswer = within(seen, 200, 299) || DEFINITIVE.has(seen.status);
  return { ...lost(seen, null), ...(isAnswer && { byRule: true as const }) };
}

/** The result is unknown, because the profile finds no usable id at the place of the id. */
function unreadable(seen: Seen, code: string, found: string): CreateAnswer {
  const message = reasonText(`HTTP ${seen.status}: ${found} at ${shownPlace(seen.idPlace)}`);
  return { kind: 'lost', reason: { code, message }, ...delayOf(seen) };
}

function lost(seen: Seen, code: string | null): Extract<CreateAnswer, { kind: 'lost' }> {
  const said = reason(seen);
  return { kind: 'lost', reason: { code: code ?? said.code, message: said.message }, ...delayOf(seen) };
}

function delayOf(seen: Seen): { readonly retryAfterMs: number | null; readonly isDelayOfKey?: true } {
  const retryAfterMs = retryAfter(seen);
  const isOfKey = retryAfterMs !== null && !HOLDING_STATUSES.has(seen.status);
  return { retryAfterMs, ...(isOfKey && { isDelayOfKey: true }) };
}
