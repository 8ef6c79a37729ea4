import { describe, expect, it } from 'vitest';
import type { ExchangeResult, UnreadableBody } from '../../../src/service/exchange-result.ts';
import { readRegistration } from '../../../src/service/client.ts';
import { DEFAULT_PROFILE } from '../../../src/service/profile/default-profile.ts';

const json = (status: number, value: unknown): ExchangeResult => ({
  ...{ kind: 'answer', status, retryAfterMs: null },
  body: { kind: 'json', value },
});
const spoilt = (why: UnreadableBody): ExchangeResult => ({
  ...{ kind: 'answer', status: 201, retryAfterMs: null },
  body: { kind: 'unreadable', why },
});
const read = (end: ExchangeResult) => readRegistration(end, DEFAULT_PROFILE);

describe('the answer to the registration of the receiver', () => {
  it.each([
    ['a secret', { secret: 'whsec_1a' }, 'whsec_1a'],
    ['the longest secret', { secret: 'abcd'.repeat(1_024) }, 'abcd'.repeat(1_024)],
    ['a secret that is too long', { secret: `${'abcd'.repeat(1_024)}e` }, null],
    ['an empty secret', { secret: '' }, null],
    ['a secret that is short enough to be guessed', { secret: 'whsec_1' }, null],
    ['a secret of three different characters', { secret: 'abc'.repeat(10) }, null],
    ['a secret of stars', { secret: '********' }, null],
    ['a secret of which the end is shown', { secret: 'whsec_••••1f3a' }, null],
    ['a secret of which the beginning is shown', { secret: 'whsec_1f3a…' }, null],
    ['no secret', { id: 'whk_1' }, null],
  ])('with %s registers it', (_name, value, secret) => {
    expect(read(json(201, value))).toEqual({ kind: 'registered', secret });
  });

  it.each<UnreadableBody>(['empty', 'not-json', 'encoded', 'oversize'])(
    'that came whole but %s registers it without a secret',
    (why) => {
      expect(read(spoilt(why))).toEqual({ kind: 'registered', secret: null });
    },
  );

  it('that is the page of a gateway leaves open whether it is registered', () => {
    const body = { kind: 'unreadable', why: 'not-json', text: '\n<html>Back soon</html>' } as const;

    expect(read({ kind: 'answer', status: 200, retryAfterMs: null, body })).toMatchObject({ kind: 'lost' });
  });

  it.each([
    ['no success', 200, { success: false, message: 'url not allowed' }, { kind: 'lost' }],
    ['refused', 200, { success: false, status: 422, message: 'url not allowed' }, { kind: 'refused' }],
    ['too much', 200, { success: false, status: 429, secret: 'whsec_1a' }, { kind: 'refused' }],
    ['a success', 200, { success: true, secret: 'whsec_1a' }, { kind: 'registered', secret: 'whsec_1a' }],
  ])('that the envelope calls %s is what the envelope says', (_name, status, value, expected) => {
    const { error, answers } = DEFAULT_PROFILE;
    const profile = {
      ...DEFAULT_PROFILE,
      error: { ...error, message: '/message' },
      answers: { ...answers, status: '/status', success: { at: '/success', is: ['true'] } },
    };

    expect(readRegistration(json(status, value), profile)).toMatchObject(expected);
  });

  it('that a rule of the profile calls refused registers nothing', () => {
    const profile = {
      ...DEFAULT_PROFILE,
      answers: { ...DEFAULT_PROFILE.answers, rules: [{ code: ['limit'], means: 'refused' as const }] },
    };

    expect(readRegistration(json(200, { error: { code: 'limit' } }), profile)).toMatchObject({ kind: 'refused' });
  });

  it.each<UnreadableBody>(['cut-short', 'not-evaluated'])('that is %s leaves open what it held', (why) => {
    expect(read(spoilt(why))).toMatchObject({ kind: 'lost', reason: { code: 'answer-unreadable' } });
  });

  it.each<[string, ExchangeResult, object]>([
    [
      'nothing left',
      { kind: 'not-sent', code: 'connection-refused', retryAfterMs: null },
      { kind: 'refused', reason: { code: 'connection-refused' } },
    ],
    [
      'its permit was over',
      { kind: 'not-permitted' },
      { kind: 'refused', reason: { code: 'answer-unreadable', message: 'No answer' } },
    ],
    [
      'it may have arrived',
      { kind: 'broken', code: 'connection-reset' },
      { kind: 'lost', reason: { code: 'connection-reset' } },
    ],
    ['the service has its own trouble', json(500, {}), { kind: 'lost', reason: { code: 'http-500' } }],
    ['it is refused', json(422, { error: { code: 'no' } }), { kind: 'refused', reason: { code: 'no' } }],
  ])('where %s', (_name, end, expected) => {
    expect(read(end)).toMatchObject(expected);
  });
});
