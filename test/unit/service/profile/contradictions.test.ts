import { describe, expect, it } from 'vitest';
import { mistakeText, pathText } from '../../../../src/service/profile/check/read-profile-file.ts';
import { checkProfile } from '../../../../src/service/profile/check-profile.ts';

function pathsIn(profile: object): readonly string[] {
  return checkProfile(JSON.stringify(profile)).mistakes.map(({ path }) => pathText(path));
}

const TIMED = { signed: '{timestamp}.{body}', separator: ',', prefix: 'v1=', timestamp: 'part:t=' };
const rules = (...list: readonly object[]): object => ({ answers: { rules: list } });

describe('settings that cannot both hold', () => {
  it.each<[string, object, string]>([
    [
      'an invoice word that is issued and failed',
      { invoice: { issued: ['ok', 'x'], failed: ['OK '] } },
      'invoice.failed.0',
    ],
    ['an event that is issued and failed', { event: { failed: ['no', 'invoice.issued'] } }, 'event.failed.1'],
    ['a short page without a size', { merchants: { endsAtShortPage: true } }, 'merchants.pageSize'],
    ['a size parameter without a size', { merchants: { sizeParameter: 'limit' } }, 'merchants.pageSize'],
    [
      'one parameter for page and size',
      { merchants: { paging: 'page', sizeParameter: 'page', pageSize: 9 } },
      'merchants.sizeParameter',
    ],
    [
      'a rule after one that takes all of its answers',
      rules({ status: [400, 409], means: 'lost' }, { status: [409], code: ['x'], means: 'refused' }),
      'answers.rules.1',
    ],
    [
      'a rule after one with the same word',
      rules({ code: ['DUP'], means: 'lost' }, { status: [409], code: ['dup'], means: 'exists' }),
      'answers.rules.1',
    ],
    [
      'a mismatch word that means refused',
      rules({ status: [422], code: ['a', 'IDEMPOTENCY_mismatch'], means: 'refused' }),
      'answers.rules.0.code.1',
    ],
  ])('are refused: %s', (_, profile, path) => {
    expect(pathsIn(profile)).toEqual([path]);
  });

  it('say which other setting they contradict', () => {
    const { mistakes } = checkProfile('{"merchants":{"sizeParameter":"limit"}}');

    expect(mistakes.map(mistakeText)).toEqual([
      'merchants.pageSize (line 1, column 14): must be set, for merchants.sizeParameter sends it',
    ]);
  });
});

describe('settings that may be right', () => {
  it.each<[string, object]>([
    ['parts with a timestamp', { signature: TIMED }],
    ['a token with leftovers of an HMAC', { signature: { kind: 'token', signed: '{timestamp}.{body}' } }],
    ['a secret address that Lote registers', { signature: { kind: 'path' }, webhook: { register: true } }],
    ['basic authentication at a receiver that Lote registers', { signature: { kind: 'basic' } }],
    ['a word of GET that is another of events', { invoice: { issued: ['done'] }, event: { failed: ['done'] } }],
    ['an event whose id is that of its invoice', { event: { eventId: '/data/id' } }],
    ['a merchant whose id is its tax number', { merchants: { id: '/nif' } }],
    ['a page size that is not sent', { merchants: { pageSize: 50 } }],
    ['a header beside the JSON for a list', { merchants: { items: ['header:X', '/data'] } }],
    [
      'a special rule before a general one',
      rules({ status: [409], code: ['x'], means: 'exists' }, { status: [409], means: 'lost' }),
    ],
    [
      'a rule that asks for more places',
      rules({ status: [403], has: 'header:Retry-After', means: 'later' }, { status: [403], means: 'access' }),
    ],
    [
      'a rule that says the same again',
      rules({ status: [400, 422], means: 'refused' }, { status: [422], means: 'refused' }),
    ],
    [
      'a mismatch word that means mismatch',
      rules({ status: [409], code: ['idempotency_mismatch'], means: 'mismatch' }),
    ],
  ])('are taken: %s', (_, profile) => {
    expect(pathsIn(profile)).toEqual([]);
  });
});
