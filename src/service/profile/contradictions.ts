import { sameWord } from './place.ts';
import type { ServiceProfile } from './profile.ts';
import type { ProfilePath } from './check/read-profile-file.ts';

type Rule = ServiceProfile['answers']['rules'][number];

/** Rules for answers that another rule or setting makes impossible. */
function ruleContradictions({ answers: { rules }, idempotency }: ServiceProfile): readonly Contradiction[] {
  return [...unreachable(rules), ...againstMismatch(rules, idempotency.mismatchCodes)];
}

/** The first rule that fits decides. A rule that says the same as the earlier one does no harm. */
function unreachable(rules: readonly Rule[]): readonly Contradiction[] {
  return rules.flatMap((rule, index) => {
    const earlier = rules.slice(0, index).findIndex((one) => takesAll(one, rule));
    const before = rules[earlier];
    if (before === undefined || (before.means === rule.means && sameJson(before.id, rule.id))) return [];
    const message = `can never fit, for answers.rules.${earlier} takes every answer that it could take; it must stand before that one, or go`;
    return [{ path: ['answers', 'rules', index], message }];
  });
}

/** Whether every answer that fits the later rule fits the earlier one. */
function takesAll(earlier: Rule, later: Rule): boolean {
  return (
    (earlier.status === undefined || later.status?.every((one) => earlier.status?.includes(one) === true) === true) &&
    (earlier.code === undefined ||
      later.code?.every((one) => earlier.code?.some((other) => sameWord(one, other))) === true) &&
    (earlier.has === undefined || sameJson(earlier.has, later.has))
  );
}

/** One word cannot say both that nothing was created and that the key has created something else. */
function againstMismatch(rules: readonly Rule[], mismatchCodes: readonly string[]): readonly Contradiction[] {
  return rules.flatMap(({ code, means, status }, index) => {
    if (means !== 'refused' || status?.some((one) => one >= 400 && one < 500) === false) return [];
    return (code ?? []).flatMap((word, at) => {
      if (!mismatchCodes.some((other) => sameWord(word, other))) return [];
      const message = `must not mean refused, for idempotency.mismatchCodes says that the key is known with other bytes, found ${JSON.stringify(word)}`;
      return [{ path: ['answers', 'rules', index, 'code', at], message }];
    });
  });
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What no single setting shows: words that mean two things, places that another setting makes impossible. */
export function contradictionsIn(
  profile: ServiceProfile,
  /** Sections about which nothing is said. */
  without: ReadonlySet<string> = new Set(),
): readonly Contradiction[] {
  const { invoice, event, merchants } = profile;
  return [
    ...inTwoLists('invoice', invoice),
    ...inTwoLists('event', event),
    ...impossiblePaging(merchants),
    ...(without.has('idempotency') ? [] : ruleContradictions(profile)),
  ].filter(({ path: [section] }) => !without.has(String(section)));
}

function inTwoLists(
  section: 'invoice' | 'event',
  { issued, failed }: { readonly issued: readonly string[]; readonly failed: readonly string[] },
): readonly Contradiction[] {
  return failed.flatMap((word, index) => {
    if (!issued.some((other) => sameWord(word, other))) return [];
    const message = `no word may stand in both ${section}.issued and ${section}.failed, found ${JSON.stringify(word)}`;
    return [{ path: [section, 'failed', index], message }];
  });
}

function impossiblePaging(merchants: ServiceProfile['merchants']): readonly Contradiction[] {
  const { paging, sizeParameter, pageSize, endsAtShortPage } = merchants;
  const found: Contradiction[] = [];
  const say = (key: keyof typeof merchants, message: string): void =>
    void found.push({ path: ['merchants', key], message });
  if (endsAtShortPage && pageSize === null)
    say('pageSize', 'must be set, for merchants.endsAtShortPage compares with it');
  else if (sizeParameter !== null && pageSize === null)
    say('pageSize', 'must be set, for merchants.sizeParameter sends it');
  const parameter = {
    cursor: 'cursorParameter',
    page: 'pageParameter',
    offset: 'offsetParameter',
    link: null,
  } as const;
  const key = parameter[paging];
  if (key !== null && merchants[key] === sizeParameter)
    say('sizeParameter', `must be another parameter than merchants.${key}, found ${JSON.stringify(sizeParameter)}`);
  return found;
}

/** Two settings that cannot both hold. */
interface Contradiction {
  /** Keys from the top to the setting that is to be corrected. */
  readonly path: ProfilePath;
  /** What must hold and what was found, as a phrase. */
  readonly message: string;
}
