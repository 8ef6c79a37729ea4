import type { Contradiction } from './contradiction.ts';
import type { ServiceProfile } from '../profile.ts';
import { sameWord } from '../word.ts';

type Rule = ServiceProfile['answers']['rules'][number];

/** Rules for answers that another rule or setting makes impossible. */
export function ruleContradictions({ answers: { rules }, idempotency }: ServiceProfile): readonly Contradiction[] {
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
