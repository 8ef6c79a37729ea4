import type { z } from 'zod';
import { sameWord } from './place.ts';

/** A check of zod that reports contradicting settings. Zod runs the check only if the section itself is valid. */
type Check<Section> = (context: z.core.ParsePayload<Section>) => void;

function report({ issues, value: input }: z.core.ParsePayload, path: PropertyKey[], message: string): void {
  issues.push({ code: 'custom', input, path, message });
}

/** Reports a word that means both issued and failed. */
export const wordsOfOneMeaning: Check<{ issued: string[]; failed: string[] }> = (context) => {
  const { issued, failed } = context.value;
  for (const [index, word] of failed.entries()) {
    if (issued.some((other) => sameWord(word, other)))
      report(context, ['failed', index], `no word may stand in both issued and failed, found ${JSON.stringify(word)}`);
  }
};

const PARAMETERS = { cursor: 'cursorParameter', page: 'pageParameter', offset: 'offsetParameter', link: null } as const;

interface Paging {
  paging: keyof typeof PARAMETERS;
  cursorParameter: string;
  pageParameter: string;
  offsetParameter: string;
  sizeParameter: string | null;
  pageSize: number | null;
}

/** Reports a page size that is needed and missing, and one parameter with two meanings. */
export const possiblePaging: Check<Paging> = (context) => {
  const { paging, sizeParameter, pageSize } = context.value;
  if (sizeParameter !== null && pageSize === null)
    report(context, ['pageSize'], 'must be set, for merchants.sizeParameter sends it');
  const key = PARAMETERS[paging];
  if (key !== null && context.value[key] === sizeParameter) {
    const message = `must be another parameter than merchants.${key}, found ${JSON.stringify(sizeParameter)}`;
    report(context, ['sizeParameter'], message);
  }
};

interface Rule {
  status?: number[] | undefined;
  code?: string[] | undefined;
  has?: string | string[] | undefined;
  means: string;
  id?: string | string[] | undefined;
}

/** Reports a rule that an earlier rule covers: the first rule that fits decides. Equal meanings are harmless. */
export const reachableRules: Check<{ rules: Rule[] }> = (context) => {
  const { rules } = context.value;
  for (const [index, rule] of rules.entries()) {
    const earlier = rules.slice(0, index).findIndex((one) => takesAll(one, rule));
    const before = rules[earlier];
    if (before === undefined || (before.means === rule.means && sameJson(before.id, rule.id))) continue;
    const message = `can never fit, for answers.rules.${earlier} takes every answer that it could take; it must stand before that one, or go`;
    report(context, ['rules', index], message);
  }
};

/** Tells whether every answer that fits the later rule also fits the earlier one. */
function takesAll(earlier: Rule, later: Rule): boolean {
  return (
    (earlier.status === undefined || later.status?.every((one) => earlier.status?.includes(one) === true) === true) &&
    (earlier.code === undefined ||
      later.code?.every((one) => earlier.code?.some((other) => sameWord(one, other))) === true) &&
    (earlier.has === undefined || sameJson(earlier.has, later.has))
  );
}

function sameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Reports a word that means both that nothing was created and that the key already created another invoice. */
export const mismatchIsNoRefusal: Check<{ answers: { rules: Rule[] }; idempotency: { mismatchCodes: string[] } }> = (
  context,
) => {
  const { answers, idempotency } = context.value;
  for (const [index, { code = [], means, status }] of answers.rules.entries()) {
    if (means !== 'refused' || status?.some((one) => one >= 400 && one < 500) === false) continue;
    for (const [at, word] of code.entries()) {
      if (!idempotency.mismatchCodes.some((other) => sameWord(word, other))) continue;
      const message = `must not mean refused, for idempotency.mismatchCodes says that the key is known with other bytes, found ${JSON.stringify(word)}`;
      report(context, ['answers', 'rules', index, 'code', at], message);
    }
  }
};
