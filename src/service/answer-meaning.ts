import { readPlace, type Document, is2xx } from '../service-profile/place.ts';
import type { ServiceProfile } from '../service-profile/profile.ts';
import { isOneOf, wordAt } from '../service-profile/word.ts';

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
    if (has === undefined) return true;
    const found = readPlace(document, has);
    return found !== undefined && found !== null && found !== '';
  });
}
