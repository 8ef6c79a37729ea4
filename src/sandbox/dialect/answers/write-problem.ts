import { meaningOf, meaningOfList, type Meaning } from './meaning.ts';
import { writtenPlace, type Place } from '../place.ts';
import type { SpokenProfile } from '../spoken-profile.ts';
import { otherWord, wordToken } from '../word.ts';
import { PlaceTaken, WrittenDocument } from '../written-document.ts';

/** An error as the operations say it, with what the client shall take it for. */
export interface SpokenProblem {
  readonly means: Exclude<Meaning, 'success' | 'exists'>;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It answers a request for the list of merchants, which creates nothing. */
  readonly isList: boolean;
  /** Where an id would stand. */
  readonly id: Place;
}

/** What was already created under a key, for a rule that means `exists`. */
export interface ExistingThing {
  readonly id: string | number;
  readonly idPlace: Place;
}

/** An answer with its status. */
export interface WrittenAnswer {
  readonly http: number;
  readonly document: WrittenDocument;
}

type Rule = SpokenProfile['answers']['rules'][number];

interface Attempt {
  readonly status: number;
  readonly code: string;
  readonly has: Place | null;
}

/** Statuses that mean it without any rule. */
const PLAIN: Readonly<Record<SpokenProblem['means'], readonly number[]>> = {
  refused: [422, 400],
  later: [429],
  access: [401],
  mismatch: [409, 422, 400],
  lost: [500, 409],
};

/**
 * Writes an error so that the profile reads it as meant: by a rule, or by its status and code alone. What cannot be meant is written as an
 * answer that proves nothing. Null: not even that can be written.
 */
export function writeProblem(profile: SpokenProfile, problem: SpokenProblem): WrittenAnswer | null {
  for (const attempt of attemptsAt(profile, problem)) {
    for (const http of httpStatuses(profile, attempt.status)) {
      const document = composed(profile, problem, { attempt, http });
      if (document !== null && readsAsMeant(document, http, { profile, problem })) return { http, document };
    }
  }
  return problem.means === 'lost' || problem.means === 'refused'
    ? null
    : writeProblem(profile, { ...problem, means: 'lost' });
}

/** Writes the answer to a repeated request by the first rule that means `exists`; null: the profile has none that can be written. */
export function writeExisting(profile: SpokenProfile, { id, idPlace }: ExistingThing): WrittenAnswer | null {
  const message = 'This key has created it before.';
  for (const rule of profile.answers.rules.filter(({ means }) => means === 'exists')) {
    const attempt = attemptOf(rule, { status: 409, code: 'already_created' });
    const problem: SpokenProblem = {
      ...{ means: 'lost', status: attempt.status, code: attempt.code, message },
      ...{ headers: {}, isList: false, id: idPlace },
    };
    for (const http of httpStatuses(profile, attempt.status)) {
      const document = composed(profile, problem, { attempt, http, existing: { place: rule.id ?? idPlace, id } });
      if (document !== null && meaningOf(document, http, profile, idPlace) === 'exists') return { http, document };
    }
  }
  return null;
}

/** A refusal keeps the sandbox's own code where it can, because that says what is wrong; everything else goes by the rules first. */
function attemptsAt({ answers, idempotency }: SpokenProfile, problem: SpokenProblem): readonly Attempt[] {
  const { means, status } = problem;
  const [mismatchCode] = idempotency.mismatchCodes;
  const code = means === 'mismatch' ? (mismatchCode ?? problem.code) : problem.code;
  const own: Attempt = { status, code, has: null };
  const byRule = answers.rules.filter((rule) => rule.means === means).map((rule) => attemptOf(rule, { status, code }));
  const plain = PLAIN[means].map((one): Attempt => ({ status: one, code, has: null }));
  return means === 'refused' ? [own, ...byRule, ...plain] : [...byRule, own, ...plain];
}

function attemptOf(rule: Rule, { status, code }: { readonly status: number; readonly code: string }): Attempt {
  const fits = rule.status === undefined || rule.status.includes(status);
  return {
    status: fits ? status : (rule.status?.[0] ?? status),
    code: rule.code?.[0] ?? code,
    has: rule.has ?? null,
  };
}

function readsAsMeant(
  document: WrittenDocument,
  http: number,
  { profile, problem: { means, isList, id } }: { readonly profile: SpokenProfile; readonly problem: SpokenProblem },
): boolean {
  if (!isList) return meaningOf(document, http, profile, id) === means;
  return meaningOfList(document, http, profile) === (means === 'lost' ? 'later' : means);
}

/** A service with an envelope answers 200 to everything; where that would say something else, the status of HTTP says what is meant. */
function httpStatuses({ answers }: SpokenProfile, status: number): readonly number[] {
  return answers.success === null ? [status] : [200, status];
}

interface Composing {
  readonly attempt: Attempt;
  readonly http: number;
  readonly existing?: { readonly place: Place; readonly id: string | number };
}

function composed(
  { answers, error }: SpokenProfile,
  { message, headers }: SpokenProblem,
  { attempt: { status, code, has }, existing }: Composing,
): WrittenDocument | null {
  const document = new WrittenDocument();
  try {
    for (const [name, value] of Object.entries(headers)) document.write({ kind: 'header', name }, value);
    if (answers.success !== null)
      put(document, answers.success.at, wordToken(otherWord(answers.success.is, ['error'])));
    if (answers.status !== null) put(document, answers.status, status);
    if (existing !== undefined) put(document, existing.place, existing.id);
    put(document, error.code, wordToken(code));
    if (has !== null && !put(document, has, hasValue(has, message), true)) return null;
    const place = writtenPlace(error.message);
    if (place !== null) document.writeIfFree(place, message);
    return document;
  } catch (failure) {
    if (failure instanceof PlaceTaken) return null;
    throw failure;
  }
}

/** False: it is an expression, at which nothing can be written. */
function put(document: WrittenDocument, at: Place, value: unknown, ifFree = false): boolean {
  const place = writtenPlace(at);
  if (place === null) return false;
  if (ifFree) document.writeIfFree(place, value);
  else document.write(place, value);
  return true;
}

/** Whatever stands there will do, but a time to wait is read. */
function hasValue(has: Place, message: string): string {
  return [has].flat().some((one) => /^header:\s*retry-after$/i.test(one)) ? '1' : message;
}
