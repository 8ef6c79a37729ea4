import { describe, expect, it } from 'vitest';
import { LONGEST_HOLD_MS } from '../../../../src/domain/request-rate.ts';
import { backoffOf, retryAfterMs, withProfileWait } from '../../../../src/service/limits/backoff.ts';
import { DEFAULT_PROFILE } from '../../../../src/service/profile/profile.ts';

const NOW = Date.UTC(2026, 6, 1, 2, 0, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['1.5', 1_500],
    ['1.25', 1_250],
    ['600', 600_000],
    ['601', LONGEST_HOLD_MS],
    ['99999999999999999999999', LONGEST_HOLD_MS],
    ['9'.repeat(400), LONGEST_HOLD_MS],
    ['Wed, 01 Jul 2026 02:00:30 GMT', 30_000],
    ['Wednesday, 01-Jul-26 02:00:30 GMT', 30_000],
    ['Wed 01 Jul 2026 02:00:30 GMT', 30_000],
    ['Wed, 01 Jul 2026 01:00:00 GMT', 0],
    ['Fri, 01 Jul 2146 02:00:00 GMT', LONGEST_HOLD_MS],
  ])('reads %s', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    '-5',
    'soon',
    '5s',
    '0x10',
    '1e3',
    'Wed, 99 Foo 2026',
    '2026-07-01',
    'NaN',
    'Infinity',
    'on Wed, 01 Jul 2026 02:00:30 GMT',
  ])('says nothing of %j', (header) => {
    expect(retryAfterMs(header, NOW)).toBeNull();
  });
});

type Answers = typeof DEFAULT_PROFILE.answers;

function answer(status: number, value: unknown = {}, wait: number | null = 3_000) {
  return { kind: 'answer', status, retryAfterMs: wait, body: { kind: 'json', value } } as const;
}

function asked(status: number, value: unknown = {}, answers: Partial<Answers> = {}) {
  return backoffOf(answer(status, value), {
    ...DEFAULT_PROFILE,
    answers: { ...DEFAULT_PROFILE.answers, ...answers },
  });
}

describe('what an answer asks of all requests', () => {
  it.each([
    [201, 'taken', null],
    [404, 'taken', null],
    [409, 'taken', null],
    [425, 'taken', 3_000],
    [429, 'too-many', 3_000],
    [500, null, 3_000],
    [503, null, 3_000],
  ])('by its status %d is %s, with a hold of %s', (status, load, holdMs) => {
    expect(asked(status)).toEqual({ load, holdMs });
  });

  it.each<[string, number, unknown, Partial<Answers>]>([
    ['a 403', 403, { error: { code: 'quota' } }, { rules: [{ status: [403], code: ['quota'], means: 'later' }] }],
    [
      'a 200 envelope',
      200,
      { ok: false, status: 429 },
      { success: { at: '/ok', is: ['true'] }, status: '/status', rules: [{ status: [429], means: 'later' }] },
    ],
    [
      'a part of a 207',
      207,
      { items: [{ status: 429 }] },
      {
        success: { at: '/items/0/status', is: ['201'] },
        status: '/items/0/status',
        rules: [{ status: [429], means: 'later' }],
      },
    ],
  ])('by a rule that says later, %s is a 429', (_name, status, value, answers) => {
    expect(asked(status, value, answers)).toEqual({ load: 'too-many', holdMs: 3_000 });
  });

  it('by a rule that says later, a 409 speaks of its key alone', () => {
    expect(asked(409, {}, { rules: [{ status: [409], means: 'later' }] })).toEqual({ load: 'taken', holdMs: null });
  });
});

describe('the time to wait that the profile finds', () => {
  it.each([
    ['seconds', '2', 2_000],
    ['seconds', 2.5, 2_500],
    ['epoch-seconds', NOW / 1_000 + 4, 4_000],
    ['epoch-seconds', NOW / 1_000 - 1, 0],
    ['seconds', 1e12, LONGEST_HOLD_MS],
  ] as const)('reads %s', (unit, value, expected) => {
    const answers = { ...DEFAULT_PROFILE.answers, wait: { at: '/reset', unit } };

    expect(withProfileWait(answer(403, { reset: value }, null), answers, NOW).retryAfterMs).toBe(expected);
  });

  it('is nothing where nothing stands, and never outranks Retry-After', () => {
    const answers = { ...DEFAULT_PROFILE.answers, wait: { at: '/reset', unit: 'seconds' as const } };

    expect(withProfileWait(answer(403, { reset: 'soon' }, null), answers, NOW).retryAfterMs).toBeNull();
    expect(withProfileWait(answer(403, { reset: 9 }), answers, NOW).retryAfterMs).toBe(3_000);
  });
});
