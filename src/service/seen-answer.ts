import { isNothing, readPlace, type Place, type Document, is2xx, readId, isOneOf, wordAt } from './profile/place.ts';
import { documentOf, isSpoilt, type ExchangeResult } from './exchange-result.ts';
import { compileExpressions } from './profile/expression.ts';
import type { ServiceProfile } from './profile/profile.ts';
import type { Reason } from '../domain/invoice.ts';
import { statusMessage } from '../domain/text/status-message.ts';
import { reasonCode, reasonText } from './profile/reason-text.ts';

const LONGEST_WORD = 100;

/** The object that an answer is about; null if Lote needs no id of it. */
export type AnsweredObject = 'invoice' | 'merchant' | null;

function placesOf({ invoice, merchants }: ServiceProfile, of: AnsweredObject) {
  if (of === 'merchant') return { id: merchants.createdId, idPrefix: merchants.idPrefix, status: undefined };
  return of === 'invoice' ? invoice : null;
}

/**
 * Makes a function that evaluates the expressions at some places, and at those of errors, once for each answer, before
 * Lote reads the answer.
 */
export function answerExpressions(
  { error, answers }: ServiceProfile,
  places: readonly (Place | null)[],
): (end: ExchangeResult) => Promise<ExchangeResult> {
  const evaluate = compileExpressions([
    ...[...places, error.code, error.message, answers.status],
    ...[answers.success?.at ?? null, answers.wait?.at ?? null],
    ...answers.rules.flatMap(({ has = null, id = null }) => [has, id]),
  ]);
  return async (end) => {
    if (end.kind !== 'answer') return end;
    const { computed, exceeded } = await evaluate(documentOf(end));
    if (exceeded !== undefined) return { ...end, body: { kind: 'unreadable', why: 'not-evaluated' } };
    return computed === undefined ? end : { ...end, computed };
  };
}

/** An ended exchange, with the values that the profile finds in it. */
export interface Seen {
  readonly end: ExchangeResult;
  /** The HTTP status, or the one that an envelope names instead. 0 if no status line came. */
  readonly status: number;
  /** True for a 2xx that is a success by the profile. */
  readonly success: boolean;
  /** The id; null if the answer has no usable id. */
  readonly serviceId: string | null;
  /** The place at which the profile looks for the id. */
  readonly idPlace: Place;
  /** True if a value, usable or not, stands at the place of the id. */
  readonly hasId: boolean;
  /** The meaning by the first rule of the profile that fits; null if no rule fits. */
  readonly meaning: Rule['means'] | null;
  /** The id at the place that this rule names; null if there is no usable id. */
  readonly existingId: string | null;
  /** The status word as `shortWord` returns it; undefined if the caller does not ask for it. */
  readonly word: string | null | undefined;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly mismatch: boolean;
}

/** Reads an ended exchange by the profile. */
export function look(end: ExchangeResult, profile: ServiceProfile, of: AnsweredObject): Seen {
  const { answers, error, idempotency } = profile;
  const document = documentOf(end);
  const http = end.kind === 'answer' ? end.status : 0;
  const success = isSuccess(document, http, answers);
  const status = success ? http : statusThatCounts(document, http, answers);
  const places = placesOf(profile, of);
  const found = places === null ? undefined : readPlace(document, places.id);
  const code = readPlace(document, error.code);
  const usable = (value: unknown): string | null => (places === null ? null : readId(value, places.idPrefix));
  const rule = end.kind === 'answer' && !isSpoilt(end) ? ruleFor(document, { status, code }, answers) : undefined;
  return {
    end,
    status,
    success,
    serviceId: usable(found),
    idPlace: places?.id ?? '',
    hasId: wordAt(found) !== null,
    meaning: rule?.means ?? null,
    existingId: rule === undefined ? null : usable(rule.id === undefined ? found : readPlace(document, rule.id)),
    word: places?.status === undefined ? undefined : shortWord(readPlace(document, places.status)),
    errorCode: errorText(code),
    errorMessage: errorText(readPlace(document, error.message)),
    mismatch: status >= 400 && status <= 499 && isOneOf(code, idempotency.mismatchCodes),
  };
}

/** Returns a word in lower case, cut to 100 characters; null if the value is no word. */
export function shortWord(value: unknown): string | null {
  return wordAt(value)?.slice(0, LONGEST_WORD).toLowerCase() ?? null;
}

/** The part of the profile that says what answers mean if the status alone does not. */
type Answers = ServiceProfile['answers'];

/** One rule of the profile. */
export type Rule = Answers['rules'][number];

/** Tells whether an answer is a 2xx and a success by the profile. */
function isSuccess(document: Document, httpStatus: number, { success }: Answers): boolean {
  if (!is2xx({ status: httpStatus })) return false;
  return success === null || isOneOf(readPlace(document, success.at), success.is);
}

/**
 * Returns the status of an answer that is no success: HTTP's, or the one that an envelope names. An envelope's status
 * counts only from 400 to 599, because an envelope must not turn a failure into a success.
 */
function statusThatCounts(document: Document, httpStatus: number, { status: place }: Answers): number {
  if (place === null) return httpStatus;
  const said = Number(wordAt(readPlace(document, place)));
  return Number.isInteger(said) && said >= 400 && said <= 599 ? said : httpStatus;
}

/** Returns the first rule that fits an answer with this status and this `error.code`; undefined if no rule fits. */
function ruleFor(
  document: Document,
  seen: { readonly status: number; readonly code: unknown },
  { rules }: Answers,
): Rule | undefined {
  return rules.find(({ status: statuses, code: codes, has }) => {
    if (statuses !== undefined && !statuses.includes(seen.status)) return false;
    if (codes !== undefined && !isOneOf(seen.code, codes)) return false;
    return has === undefined || !isNothing(readPlace(document, has));
  });
}

/** A service's error is a few sentences at most, so Lote omits texts that are deeper or further back. */
const DEEPEST = 4;
const MOST_TEXTS = 5;

/**
 * Returns an error as one text: a text or number unchanged; of a list or object the first texts, each after the name of
 * its field; null if there is no text. Services write `{"errors":[{"detail":"…"}]}` and `{"errors":{"nif":["…"]}}` for
 * the same thing.
 */
export function errorText(value: unknown): string | null {
  if (value === undefined) return null;
  const texts: string[] = [];
  for (const text of textsIn(value, null, 0)) if (texts.push(text) === MOST_TEXTS) break;
  return texts.length === 0 ? null : texts.join('; ');
}

function* textsIn(value: unknown, field: string | null, depth: number): Generator<string> {
  if (depth > DEEPEST) return;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text !== '') yield field === null ? text : `${field}: ${text}`;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries: readonly (readonly [string | null, unknown])[] = Array.isArray(value)
    ? value.slice(0, MOST_TEXTS).map((item: unknown) => [field, item])
    : Object.entries(value).slice(0, MOST_TEXTS * 2);
  for (const [name, below] of entries) yield* textsIn(below, name, depth + 1);
}

/** Returns the reason of a status, with the service's own code and message if they are usable. */
export function statusReason(status: number, said: { readonly code: unknown; readonly message: unknown }): Reason {
  const message = typeof said.message === 'string' ? reasonText(said.message) : '';
  return {
    code: reasonCode(said.code) ?? `http-${status}`,
    message: reasonText(statusMessage(status, message)),
  };
}
