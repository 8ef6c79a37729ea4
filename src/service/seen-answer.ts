import { readPlace, type Place } from '../service-profile/place.ts';
import { readId } from '../service-profile/read-id.ts';
import { isOneOf, wordAt } from '../service-profile/word.ts';
import { isSuccess, ruleFor, statusThatCounts, type Answers, type Rule } from './answer-meaning.ts';
import { errorText } from './error-text.ts';
import { documentOf, isSpoilt, type ExchangeResult } from './exchange-result.ts';

const LONGEST_WORD = 100;

/** Where a created thing's id and an error's words stand, and what answers mean: from the service profile. */
export interface CreationShape {
  readonly id: Place;
  /** What a usable id begins with; null: no id is usable. */
  readonly idPrefix: string | null;
  /** Where the word of the status stands; left out: nobody asks for it. */
  readonly status?: Place;
  readonly errorCode: Place;
  readonly errorMessage: Place;
  readonly mismatchCodes: readonly string[];
  readonly answers: Answers;
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
  /** The word of the status as `shortWord` gives it; undefined: nobody asks for it. */
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
