import { readPlace, type Document, is2xx } from '../place.ts';
import { wordAt } from '../word.ts';
import { missing, seen, type Recognised } from './finding.ts';
import { leavesOf } from './leaves.ts';
import { isWord, shownWord } from './shown.ts';

/** An answer that says within a 2xx whether it is a success. */
export interface Envelope {
  readonly success: { readonly at: string; readonly is: readonly string[] } | null;
  /** Place of the status that counts. */
  readonly status: string | null;
}

const FLAG = /^(?:success|succeeded|ok|issuccess|result|status|outcome)$/;

/** What tells a refusal from a success where both are 2xx; null: HTTP's status tells it. */
export function envelopeOf(refused: Document, successes: readonly Document[]): Envelope | null {
  if (!is2xx(refused)) return null;
  const leaves = leavesOf(refused.body).filter(({ steps }) => steps.every((step) => typeof step === 'string'));
  const flag = leaves.find(({ key, place, value }) => {
    const words = wordsAt(successes, place);
    const [only] = words;
    return FLAG.test(key) && words.length === 1 && only !== undefined && isWord(only) && wordAt(value) !== only;
  });
  const status = leaves.find(({ value }) => isErrorStatus(value));
  return {
    success: flag === undefined ? null : { at: flag.place, is: wordsAt(successes, flag.place) },
    status: status?.place ?? null,
  };
}

/** The settings of an envelope. */
export function recogniseEnvelope(refused: Document, successes: readonly Document[]): Recognised {
  const envelope = envelopeOf(refused, successes);
  if (envelope === null) return [];
  const { success, status } = envelope;
  if (success === null)
    return [
      missing('answers.success', `a refusal was answered with ${refused.status}, and no word tells it from a success`),
    ];
  const found = shownWord(readPlace(refused, success.at));
  return [
    seen('answers.success', success, `a refusal was answered with ${refused.status} and ${found} there`),
    ...(status === null
      ? []
      : [seen('answers.status', status, `a refusal has ${shownWord(readPlace(refused, status))} there`)]),
  ];
}

/** The status of an answer that counts: HTTP's, or that of the envelope. */
export function countingStatus(document: Document, envelope: Envelope | null): number {
  const { status = 0 } = document;
  if (envelope?.status === undefined || envelope.status === null || isSuccess(document, envelope)) return status;
  const said = Number(wordAt(readPlace(document, envelope.status)));
  return isErrorStatus(said) ? said : status;
}

/** Whether an answer is a 2xx, and a success by the envelope. */
export function isSuccess(document: Document, envelope: Envelope | null): boolean {
  if (!is2xx(document)) return false;
  const success = envelope?.success ?? null;
  return success === null || success.is.includes(wordAt(readPlace(document, success.at)) ?? '');
}

function isErrorStatus(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599;
}

function wordsAt(documents: readonly Document[], place: string): readonly string[] {
  const withBody = documents.filter(({ body }) => body !== undefined);
  return [...new Set(withBody.map((one) => wordAt(readPlace(one, place)) ?? ''))].filter((word) => word !== '');
}
