import type { Document } from '../place.ts';
import type { ServiceProfile } from '../profile.ts';
import { countingStatus, isSuccess, type Envelope } from './envelope.ts';
import { codePlaces, messagePlaces, type ErrorPlace } from './error-words.ts';
import { missing, seen, type Finding, type Missing, type Recognised } from './finding.ts';
import { placesOfId } from './id-places.ts';
import { shownWord } from './shown.ts';

type Rule = ServiceProfile['answers']['rules'][number];

/** The answers that say no, and the one to the same request again. */
export interface Refusals {
  /** To a request that nobody can carry out; null: none came. */
  readonly refused: Document | null;
  /** To a known key with other bytes; null: none came. */
  readonly mismatch: Document | null;
  /** To a known key with the same bytes; null: none came. */
  readonly repeated: Document | null;
  /** Id of the invoice under that key. */
  readonly id: string;
  readonly envelope: Envelope | null;
}

/** A refusal by its status alone, if there is text at the places of errors. */
const REFUSED_STATUSES = [400, 404, 413, 415, 422];

/** Where errors say what is wrong, and which answers mean something that their status does not say. */
export function recogniseRefusals(refusals: Refusals): Recognised {
  const { refused, mismatch } = refusals;
  const code = refused === null ? null : codeOf(refused, mismatch);
  const rules = [ruleOfMismatch(refusals, code), ruleOfRepeat(refusals), ruleOfRefusal(refusals, code)];
  const found = rules.filter((one) => one !== null);
  const withRule = found.filter((one) => 'rule' in one);
  return [
    ...errorPlaces(refused, code),
    ...found.flatMap((one) => ('rule' in one ? [] : [one])),
    ...(withRule.length === 0
      ? []
      : [
          seen(
            'answers.rules',
            withRule.map(({ rule }) => rule),
            withRule.map(({ evidence }) => evidence).join('; '),
          ),
        ]),
  ];
}

interface FoundRule {
  readonly rule: Rule;
  readonly evidence: string;
}

function errorPlaces(refused: Document | null, code: CodePair | null): Recognised {
  if (refused === null) return [missing('error.code', 'no refusal came'), missing('error.message', 'no refusal came')];
  const [message] = messagePlaces(refused);
  const what = `a refusal (${refused.status}) has`;
  const codes: readonly (Finding | Missing)[] =
    code === null
      ? [missing('error.code', `the refusal (${refused.status}) holds no word for programs`)]
      : [seen('error.code', code.place, `${what} ${shownWord(code.refused)} there`)];
  const sentence = message === undefined ? null : `${what} a text of ${message.value.length} characters there`;
  return [
    ...codes,
    sentence === null || message === undefined
      ? missing('error.message', `the refusal (${refused.status}) holds no sentence`)
      : seen('error.message', message.place, message.value === '' ? `${what} errors by field there` : sentence),
  ];
}

interface CodePair {
  readonly place: string;
  readonly refused: string;
  /** What stands there when the key is known with other bytes; null: nothing. */
  readonly mismatch: string | null;
}

/** A place whose word differs between two errors is one that names them. */
function codeOf(refused: Document, mismatch: Document | null): CodePair | null {
  const places = codePlaces(refused);
  const others = mismatch === null ? [] : codePlaces(mismatch);
  const pair = ({ place, value }: ErrorPlace): CodePair => ({
    ...{ place, refused: value },
    mismatch: others.find((one) => one.place === place)?.value ?? null,
  });
  const pairs = places.map(pair);
  const telling = pairs.find((one) => one.mismatch !== null && one.mismatch !== one.refused);
  return telling ?? pairs[0] ?? null;
}

function ruleOfMismatch(
  { mismatch, id, envelope }: Refusals,
  code: CodePair | null,
): FoundRule | Finding | Missing | null {
  const key = 'idempotency.mismatchCodes';
  if (mismatch === null) return missing(key, 'no answer came to a known key with other bytes');
  const status = countingStatus(mismatch, envelope);
  if (isSuccess(mismatch, envelope))
    return placesOfId(mismatch, id).length > 0
      ? seen(key, [], 'other bytes under a known key are answered with the first invoice')
      : missing(key, 'other bytes under a known key were taken: the service does not compare them');
  const word = code?.mismatch ?? null;
  if (code === null || word === null)
    return missing(key, `other bytes under a known key: ${status} without a word at error.code`);
  if (word === code.refused)
    return missing(key, `other bytes under a known key: ${status} with ${shownWord(word)}, the same word as a refusal`);
  const evidence = `other bytes under a known key: ${status} with ${shownWord(word)}`;
  if (status >= 400 && status <= 499) return seen(key, [word], evidence);
  return { rule: { code: [word], means: 'mismatch' }, evidence };
}

/** The same key and bytes again must bring the first invoice. */
function ruleOfRepeat({ repeated, id, envelope }: Refusals): FoundRule | Missing | null {
  if (repeated === null) return missing('answers.rules', 'no answer came to the same key and bytes');
  const [place] = placesOfId(repeated, id);
  if (isSuccess(repeated, envelope))
    return place === undefined
      ? missing(
          'answers.rules',
          'the same key and bytes brought no id, or another one: they may have created a second invoice',
        )
      : null;
  const status = countingStatus(repeated, envelope);
  if (place === undefined)
    return missing('answers.rules', `the same key and bytes: ${status} without the id of the first invoice`);
  const rule: Rule = { status: [status], has: place.place, means: 'exists', id: place.place };
  return { rule, evidence: `the same key and bytes: ${status} with the id of the first invoice at ${place.place}` };
}

/** Where the status does not say that it is one. */
function ruleOfRefusal({ refused, envelope }: Refusals, code: CodePair | null): FoundRule | Missing | null {
  if (refused === null) return null;
  const status = countingStatus(refused, envelope);
  if (REFUSED_STATUSES.includes(status)) return null;
  const key = 'answers.rules';
  if (isSuccess(refused, envelope))
    return missing(key, `an invoice without lines was taken (${status}): no refusal came`);
  if (status >= 500) return missing(key, `an invoice without lines was answered with ${status}, which proves nothing`);
  if (code === null)
    return missing(key, `an invoice without lines was answered with ${status} and no word for programs`);
  const rule: Rule = { code: [code.refused], means: 'refused' };
  return { rule, evidence: `an invoice without lines: ${status} with ${shownWord(code.refused)}` };
}
