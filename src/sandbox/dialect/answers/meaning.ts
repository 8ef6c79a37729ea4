import { writtenPlaces, type Place } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { isWord } from '../word.ts';
import type { WrittenDocument } from '../written-document.ts';

/** What a client takes an answer for. */
export type Meaning = SpokenProfile['answers']['rules'][number]['means'] | 'success';

const NO_ACCESS = new Set([401, 403, 407]);
const LATER = new Set([425, 429]);
const REFUSED = new Set([
  ...[400, 402, 404, 405, 406, 410, 411, 412, 413, 414, 415, 416, 417, 418, 422, 424, 426, 428, 431, 451],
]);

/** How an answer to a creation reads by the profile: the sandbox reads what it wrote before it sends it. */
export function meaningOf(document: WrittenDocument, http: number, profile: SpokenProfile, id: Place): Meaning {
  const { error, idempotency } = profile;
  const { succeeded, status, code, means } = read(document, http, profile);
  if (means === 'exists' || means === 'lost' || means === 'mismatch') return means;
  const hasId = stands(document, id);
  if (means !== undefined) return hasId || (means === 'refused' && status >= 500) ? 'lost' : means;
  if (succeeded) return 'success';
  if (status < 400 || hasId) return 'lost';
  if (status < 500 && isWord(code, idempotency.mismatchCodes)) return 'mismatch';
  if (NO_ACCESS.has(status)) return 'access';
  if (LATER.has(status)) return 'later';
  const saysError = stands(document, error.code) || stands(document, error.message);
  return REFUSED.has(status) && saysError ? 'refused' : 'lost';
}

/** How an answer to the list of merchants reads: nothing is created by it, so that `lost` is no more than `later`. */
export function meaningOfList(document: WrittenDocument, http: number, profile: SpokenProfile): Meaning {
  const { succeeded, status, means } = read(document, http, profile);
  if (succeeded) return 'success';
  if (means !== undefined) return means === 'lost' ? 'later' : means;
  if (NO_ACCESS.has(status)) return 'access';
  return status === 408 || LATER.has(status) || status >= 500 ? 'later' : 'refused';
}

function read(document: WrittenDocument, http: number, profile: SpokenProfile) {
  const { answers, error } = profile;
  const succeeded = http >= 200 && http <= 299 && saysSuccess(document, profile);
  const status = succeeded ? http : (envelopeStatus(document, answers.status) ?? http);
  const code = readPlace(document, error.code);
  const rule = answers.rules.find(
    (one) =>
      (one.status === undefined || one.status.includes(status)) &&
      (one.code === undefined || isWord(code, one.code)) &&
      (one.has === undefined || stands(document, one.has)),
  );
  return { succeeded, status, code, means: rule?.means };
}

function saysSuccess(document: WrittenDocument, { answers: { success } }: SpokenProfile): boolean {
  return success === null || isWord(readPlace(document, success.at), success.is);
}

function envelopeStatus(document: WrittenDocument, place: Place | null): number | null {
  const status = place === null ? NaN : Number(readPlace(document, place));
  return status >= 400 && status <= 599 ? status : null;
}

function readPlace(document: WrittenDocument, place: Place): unknown {
  const found = writtenPlaces(place).find((one) => document.has(one));
  return found === undefined ? undefined : document.read(found);
}

function stands(document: WrittenDocument, place: Place): boolean {
  return readPlace(document, place) !== undefined;
}
