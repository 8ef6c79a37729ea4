import { describe, expect, it } from 'vitest';
import { isSuccess, ruleFor, statusThatCounts, type Answers, type Rule } from '../../../src/service/seen-answer.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';

const answersWith = (answers: Partial<Answers>): Answers => ({ ...DEFAULT_PROFILE.answers, ...answers });

describe('the status that counts', () => {
  it.each<[unknown, number]>([
    [399, 422],
    [400, 400],
    ['429', 429],
    [599, 599],
    [600, 422],
    [404.5, 422],
    ['no', 422],
    [null, 422],
    [{}, 422],
  ])('with %j in the envelope of a 422 is %d: only the status of an error counts', (said, status) => {
    expect(statusThatCounts({ body: { code: said } }, 422, answersWith({ status: '/code' }))).toBe(status);
  });

  it("is HTTP's where the profile names no envelope", () => {
    expect(statusThatCounts({ body: { code: 500 } }, 422, answersWith({ status: null }))).toBe(422);
  });
});

describe('a success', () => {
  const answers = answersWith({ success: { at: '/ok', is: ['yes'] } });

  it.each([
    [199, 'yes', false],
    [200, 'yes', true],
    [299, 'yes', true],
    [300, 'yes', false],
    [200, 'no', false],
    [200, undefined, false],
  ])('%d that says %j is one: %s', (status, ok, success) => {
    expect(isSuccess({ body: { ok } }, status, answers)).toBe(success);
  });

  it('needs no word where the profile asks for none', () => {
    expect(isSuccess({ body: {} }, 201, answersWith({ success: null }))).toBe(true);
  });
});

describe('the rule for an answer', () => {
  const found = (rule: Rule, seen: { readonly status: number; readonly code?: unknown }, body: unknown = {}) =>
    ruleFor({ body }, { code: undefined, ...seen }, answersWith({ rules: [rule] })) !== undefined;

  it.each([
    ['a text', 'A-1', true],
    ['zero', 0, true],
    ['false', false, true],
    ['an empty text', '', false],
    ['null', null, false],
    ['nothing', undefined, false],
  ])('that asks for a place at which something stands finds %s there: %s', (_name, existing, fits) => {
    expect(found({ has: '/existing', means: 'later' }, { status: 409 }, { existing })).toBe(fits);
  });

  it('is the first of several that fit', () => {
    const rules: Rule[] = [{ code: ['x'], means: 'later' }, { means: 'lost' }, { means: 'refused' }];

    expect(ruleFor({ body: {} }, { status: 400, code: 'y' }, answersWith({ rules }))).toBe(rules[1]);
  });
});
