import { isNothing, readPlace, type Place, type Document, is2xx, readId, isOneOf, wordAt } from './profile/place.ts';
import { documentOf, isSpoilt, type ExchangeResult } from './exchange-result.ts';
import { compileExpressions } from './profile/expression.ts';
import type { ServiceProfile } from './profile/profile.ts';
import type { Reason } from '../domain/invoice.ts';
import { statusMessage } from '../domain/text/status-message.ts';
import { reasonCode, reasonText } from './profile/reason-text.ts';

const LONGEST_WORD = 100;

/** Where a created thing's id and an error's words stand, and what answers mean: from the service profile. */
export interface CreationShape {
  readonly id: Place;
  /** What a usable id begins with; null: no id is usable. */
  readonly idPrefix: string | null;
  /** Where the word of the status stands; left out: the caller does not ask for it. */
  readonly status?: Place;
  readonly errorCode: Place;
  readonly errorMessage: Place;
  readonly mismatchCodes: readonly string[];
  readonly answers: Answers;
}

/** How answers about invoices are read. */
export function invoiceShape(profile: ServiceProfile): CreationShape {
  const { id, idPrefix, status } = profile.invoice;
  return shapeOf(profile, { id, idPrefix, status });
}

/** How the answer to the creation of a merchant is read. */
export function merchantShape(profile: ServiceProfile): CreationShape {
  return shapeOf(profile, { id: profile.merchants.createdId, idPrefix: profile.merchants.idPrefix });
}

/** How answers are read that carry no id which Lote needs. */
export function shapeWithoutId(profile: ServiceProfile): CreationShape {
  return shapeOf(profile, { id: '', idPrefix: null });
}

function shapeOf(profile: ServiceProfile, id: Pick<CreationShape, 'id' | 'idPrefix' | 'status'>): CreationShape {
  return {
    ...id,
    errorCode: profile.error.code,
    errorMessage: profile.error.message,
    mismatchCodes: profile.idempotency.mismatchCodes,
    answers: profile.answers,
  };
}

/** Evaluates the expressions of the profile once for each answer, before it is read. The list of merchants evaluates its own. */
export function answerExpressions(profile: ServiceProfile): (end: ExchangeResult) => Promise<ExchangeResult> {
  const { invoice, merchants, error, answers, webhook } = profile;
  const evaluate = compileExpressions([
    ...[invoice.id, invoice.status, invoice.reasonCode, invoice.reasonMessage, merchants.createdId],
    ...[error.code, error.message, webhook.secret, answers.status, answers.success?.at ?? null],
    answers.wait?.at ?? null,
    ...answers.rules.flatMap(({ has = null, id = null }) => [has, id]),
  ]);
  return async (end) => {
    if (end.kind !== 'answer') return end;
    const { computed, exceeded } = await evaluate(documentOf(end));
    if (exceeded !== undefined) return { ...end, body: { kind: 'unreadable', why: 'not-evaluated' } };
    return computed === undefined ? end : { ...end, computed };
  };
}

/** An ended exchange with what the profile finds in it. */
export interface Seen {
  readonly end: ExchangeResult;
  /** The status that counts: HTTP's, or the one that an envelope names. 0 when no status line came. */
  readonly status: number;
  /** A 2xx, and a success by the profile. */
  readonly success: boolean;
  /** A usable id; null: none. */
  readonly serviceId: string | null;
  /** Where the profile looks for it. */
  readonly idPlace: Place;
  /** Something stands at the place of the id, usable or not. */
  readonly hasId: boolean;
  /** What the first rule of the profile that fits says; null: none fits. */
  readonly meaning: Rule['means'] | null;
  /** The usable id where that rule finds it; null: none. */
  readonly existingId: string | null;
  /** The word of the status as `shortWord` gives it; undefined: the caller does not ask for it. */
  readonly word: string | null | undefined;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly mismatch: boolean;
}

/** Reads an ended exchange by the profile. */
export function look(end: ExchangeResult, shape: CreationShape): Seen {
  const document = documentOf(end);
  const http = end.kind === 'answer' ? end.status : 0;
  const { answers, idPrefix } = shape;
  const success = isSuccess(document, http, answers);
  const status = success ? http : statusThatCounts(document, http, answers);
  const found = readPlace(document, shape.id);
  const code = readPlace(document, shape.errorCode);
  const usable = (value: unknown): string | null => (idPrefix === null ? null : readId(value, idPrefix));
  const rule = end.kind === 'answer' && !isSpoilt(end) ? ruleFor(document, { status, code }, answers) : undefined;
  return {
    end,
    status,
    success,
    serviceId: usable(found),
    idPlace: shape.id,
    hasId: wordAt(found) !== null,
    meaning: rule?.means ?? null,
    existingId: rule === undefined ? null : usable(rule.id === undefined ? found : readPlace(document, rule.id)),
    word: shape.status === undefined ? undefined : shortWord(readPlace(document, shape.status)),
    errorCode: errorText(code),
    errorMessage: errorText(readPlace(document, shape.errorMessage)),
    mismatch: status >= 400 && status <= 499 && isOneOf(code, shape.mismatchCodes),
  };
}

/** The word at a place in small letters, at most 100 characters; null: none. */
export function shortWord(value: unknown): string | null {
  return wordAt(value)?.slice(0, LONGEST_WORD).toLowerCase() ?? null;
}

/** What answers mean, where the status alone does not say it. */
export type Answers = ServiceProfile['answers'];

/** One rule of the profile. */
export type Rule = Answers['rules'][number];

/** A 2xx, and a success by the profile. */
export function isSuccess(document: Document, httpStatus: number, { success }: Answers): boolean {
  if (!is2xx({ status: httpStatus })) return false;
  return success === null || isOneOf(readPlace(document, success.at), success.is);
}

/**
 * The status of an answer that is no success: HTTP's, or the one that an envelope names. Only that of an error, from 400 to
 * 599: no envelope makes a success of a failure.
 */
export function statusThatCounts(document: Document, httpStatus: number, { status: place }: Answers): number {
  if (place === null) return httpStatus;
  const said = Number(wordAt(readPlace(document, place)));
  return Number.isInteger(said) && said >= 400 && said <= 599 ? said : httpStatus;
}

/** The first rule that fits an answer with this status that counts, and this at `error.code`; undefined: none does. */
export function ruleFor(
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

/** An error of a service is a sentence or a few; what is deeper, or further back, is left out. */
const DEEPEST = 4;
const MOST_TEXTS = 5;

/**
 * What an error says, as one text: a text or number as it is; of a list or an object its first texts, each after the name of its field. Null: nothing.
 * Services write `{"errors":[{"detail":"…"}]}` and `{"errors":{"nif":["…"]}}` for the same thing.
 */
export function errorText(value: unknown): string | null {
  const texts: string[] = [];
  collect(value, { field: null, depth: 0, texts });
  return texts.length === 0 ? null : texts.join('; ');
}

interface TextPlace {
  readonly field: string | null;
  readonly depth: number;
  readonly texts: string[];
}

function collect(value: unknown, { field, depth, texts }: TextPlace): void {
  if (texts.length >= MOST_TEXTS || depth > DEEPEST) return;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value).trim();
    if (text !== '') texts.push(field === null ? text : `${field}: ${text}`);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const entries: readonly (readonly [string | null, unknown])[] = Array.isArray(value)
    ? value.slice(0, MOST_TEXTS).map((item: unknown) => [field, item])
    : Object.entries(value).slice(0, MOST_TEXTS * 2);
  for (const [name, below] of entries) collect(below, { field: name, depth: depth + 1, texts });
}

/** Reason of a status: the service's own code and message when it gave usable ones. */
export function statusReason(status: number, said: { readonly code: unknown; readonly message: unknown }): Reason {
  const message = typeof said.message === 'string' ? reasonText(said.message) : '';
  return {
    code: reasonCode(said.code) ?? `http-${status}`,
    message: reasonText(statusMessage(status, message)),
  };
}
