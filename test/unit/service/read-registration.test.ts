import { describe, expect, it } from 'vitest';
import type { ExchangeResult, UnreadableBody } from '../../../src/service/exchange-result.ts';
import { readRegistration } from '../../../src/service/read-registration.ts';
import { DEFAULT_PROFILE } from '../../../src/service-profile/default-profile.ts';

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
    ['a secret', { secret: 'whsec_1' }, 'whsec_1'],
    ['a secret of one character', { secret: 's' }, 's'],
    ['the longest secret', { secret: 's'.repeat(4_096) }, 's'.repeat(4_096)],
    ['a secret that is too long', { secret: 's'.repeat(4_097) }, null],
    ['an empty secret', { secret: '' }, null],
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
