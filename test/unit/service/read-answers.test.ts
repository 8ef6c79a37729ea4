import { describe, expect, it } from 'vitest';
import type { ExchangeResult, UnreadableBody } from '../../../src/service/exchange-result.ts';
import { loadProfile } from '../../../src/service/profile/check-profile.ts';
import { readRegistration, readStatus } from '../../../src/service/client.ts';

function says(value: unknown, status = 200): ExchangeResult {
  return { kind: 'answer', status, retryAfterMs: null, body: { kind: 'json', value } };
}

function read(end: ExchangeResult, profileText?: string) {
  return readStatus(end, 'inv_1', loadProfile(profileText));
}

describe('readStatus', () => {
  it('takes issued for issued and gives it no reason', () => {
    expect(read(says({ id: 'inv_1', status: 'issued', error: { code: 'x' } }))).toEqual({
      kind: 'status',
      status: 'issued',
      reason: null,
      seen: { word: 'issued', place: '/status', why: 'code' },
    });
  });

  it.each([
    ['no reason', {}, null],
    ['a code that means none', { error: { code: 'none' } }, null],
    ['a code that begins like one', { error: { code: 'none_of_the_lines' } }, 'code'],
    ['a code that ends like one', { error: { code: 'not_ok' } }, 'code'],
    ['a sentence alone', { error: { message: 'done' } }, 'text'],
    ['a sentence beside a code that means none', { error: { code: 'OK', message: 'done' } }, 'text'],
  ])('tells that an answer has %s', (_name, body, why) => {
    expect(read(says({ id: 'inv_1', status: 'Issued', ...body }))).toMatchObject({ seen: { word: 'issued', why } });
  });

  it('tells that nothing stands at the place of the status', () => {
    expect(read(says({ id: 'inv_1' }))).toEqual({
      ...{ kind: 'status', status: 'unreadable' },
      reason: { code: 'status-unreadable', message: 'No status at /status' },
      seen: { word: null, place: '/status', why: null },
    });
  });

  it('takes failed for failed with the reason of the service, or none: then an event may have said it', () => {
    const error = { code: 'tax_code_unknown', message: 'IVA_99?' };

    expect(read(says({ id: 'inv_1', status: 'failed', error }))).toMatchObject({
      ...{ kind: 'status', status: 'failed' },
      reason: { code: 'tax-code-unknown', message: 'IVA_99?' },
    });
    expect(read(says({ id: 'inv_1', status: 'failed' }))).toMatchObject({
      status: 'failed',
      reason: null,
    });
  });

  it.each(['Issued', 'ISSUED', 'issued '])('takes %j for the word of the profile', (status) => {
    expect(read(says({ id: 'inv_1', status }))).toMatchObject({ status: 'issued' });
  });

  it.each(['processing', 'issuing', 'not issued', 'fail', 'cancelled', 0])(
    'takes %j for no final word: only the words of the profile are',
    (status) => {
      expect(read(says({ id: 'inv_1', status }))).toMatchObject({
        ...{ kind: 'status', status: 'processing', reason: null },
      });
    },
  );

  it('reads words that are numbers, and ids that are', () => {
    const profile = '{"invoice":{"idPrefix":"","issued":["3"],"failed":["-1"]}}';
    const readId = (id: unknown, status: unknown) => read(says({ id, status }), profile);

    expect(readId('inv_1', 3)).toMatchObject({ status: 'issued' });
    expect(readId('inv_1', -1)).toMatchObject({ status: 'failed' });
    expect(readId(7, 3)).toMatchObject({ status: 'unreadable', reason: { code: 'another-invoice-answered' } });
  });

  it('takes a 200 that is no success by the profile for no status', () => {
    const profile = '{"answers":{"success":{"at":"/ok","is":["true"]}}}';

    expect(read(says({ id: 'inv_1', status: 'failed', ok: true }), profile)).toMatchObject({ status: 'failed' });
    expect(read(says({ id: 'inv_1', status: 'failed', ok: false }), profile)).toMatchObject({ kind: 'not-now' });
  });

  it('goes by the words of the profile', () => {
    const profile = '{"invoice":{"status":"/state/name","issued":["DONE","OK"],"failed":["KO"]}}';

    expect(read(says({ id: 'inv_1', state: { name: 'OK' } }), profile)).toMatchObject({ status: 'issued' });
    expect(read(says({ id: 'inv_1', state: { name: 'KO' } }), profile)).toMatchObject({ status: 'failed' });
    expect(read(says({ id: 'inv_1', status: 'issued', state: { name: 'x' } }), profile)).toMatchObject({
      status: 'processing',
    });
  });

  it("never reads another invoice's fate for this one's", () => {
    expect(read(says({ id: 'inv_2', status: 'issued' }))).toMatchObject({
      status: 'unreadable',
      reason: { code: 'another-invoice-answered', message: 'The answer carries the id of another invoice' },
    });
    expect(read(says({ id: 'inv_2', status: 'failed' }))).toMatchObject({ status: 'unreadable' });
  });

  it.each(['issued', 'failed', 'processing'])('does not believe %j of an answer that leaves the id out', (status) => {
    for (const id of [undefined, null, '', ['inv_1']]) {
      expect(read(says({ id, status }))).toMatchObject({ status: 'unreadable', reason: { code: 'status-without-id' } });
    }
  });

  it('looks for the id where the profile says, and nowhere else', () => {
    const profile = '{"invoice":{"id":"/invoice/id"}}';

    expect(read(says({ invoice: { id: 'inv_1' }, status: 'issued' }), profile)).toMatchObject({ status: 'issued' });
    expect(read(says({ id: 'inv_1', status: 'issued' }), profile)).toMatchObject({
      status: 'unreadable',
      reason: { message: expect.stringContaining('/invoice/id') as string },
    });
  });

  it.each([
    ['no id, and it is issued', { status: 'issued' }, true],
    ['no id, and a word nobody knows', { status: 'queued' }, true],
    ['the id of another invoice that is issued', { id: 'inv_2', status: 'issued' }, true],
    ['no id, and it has failed', { status: 'failed' }, false],
    ['nothing in it', {}, false],
  ])('says whether an answer puts a reported failure in doubt: %s', (_, value, doubtful) => {
    expect(read(says(value))).toMatchObject({ status: 'unreadable', doubtful });
  });

  it.each([[{}], [{ status: '' }], [{ status: 7 }], [{ status: null }], [[]], [null]])(
    'finds no status in %j',
    (value) => {
      expect(read(says(value))).toMatchObject({ kind: 'status', status: 'unreadable' });
    },
  );

  it.each([404, 410, 422])('takes a %d in JSON for unreadable: the document may exist all the same', (status) => {
    expect(read(says({ error: { code: 'invoice_not_found', message: 'No.' } }, status))).toMatchObject({
      kind: 'status',
      status: 'unreadable',
    });
  });

  it.each([401, 403, 408, 429, 500, 502, 503])('asks later after a %d, and moves nothing', (status) => {
    expect(read(says({ id: 'inv_1', status: 'failed' }, status))).toMatchObject({ kind: 'not-now' });
  });

  it('takes a 422 that says that a key is known for unreadable: it is a word of the service, though not on the invoice', () => {
    expect(read(says({ error: { code: 'idempotency_mismatch' } }, 422))).toMatchObject({
      ...{ kind: 'status', status: 'unreadable' },
      reason: { code: 'key-known-with-other-bytes' },
    });
  });

  it('finds no status in an answer that a rule of the profile takes for the proof of a creation', () => {
    const profile = '{"answers":{"rules":[{"status":[409],"means":"exists","id":"/existing"}]}}';

    expect(read(says({ existing: 'inv_1', status: 'failed' }, 409), profile)).toEqual({
      ...{ kind: 'status', status: 'unreadable' },
      reason: { code: 'status-unreadable', message: 'No status' },
    });
  });

  it('knows nothing of an invoice when it was not permitted to ask', () => {
    expect(read({ kind: 'not-permitted' })).toMatchObject({ kind: 'status', status: 'unreadable' });
  });

  it('asks later when the answer broke off', () => {
    expect(read({ kind: 'broken', code: 'connection-reset' })).toMatchObject({ kind: 'not-now' });
    expect(read({ kind: 'not-sent', code: 'connection-refused', retryAfterMs: 5 })).toMatchObject({
      kind: 'not-now',
      retryAfterMs: 5,
    });
  });
});

const spoilt = (why: UnreadableBody): ExchangeResult => ({
  ...{ kind: 'answer', status: 201, retryAfterMs: null },
  body: { kind: 'unreadable', why },
});
const registered = (end: ExchangeResult, profile = {}) => readRegistration(end, loadProfile(JSON.stringify(profile)));

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
    expect(registered(says(value, 201))).toEqual({ kind: 'registered', secret });
  });

  it.each<UnreadableBody>(['empty', 'not-json', 'encoded', 'oversize'])(
    'that came whole but %s registers it without a secret',
    (why) => {
      expect(registered(spoilt(why))).toEqual({ kind: 'registered', secret: null });
    },
  );

  it('that is the page of a gateway leaves open whether it is registered', () => {
    const body = { kind: 'unreadable', why: 'not-json', text: '\n<html>Back soon</html>' } as const;

    expect(registered({ kind: 'answer', status: 200, retryAfterMs: null, body })).toMatchObject({ kind: 'lost' });
  });

  it.each([
    ['no success', 200, { success: false, message: 'url not allowed' }, { kind: 'lost' }],
    ['refused', 200, { success: false, status: 422, message: 'url not allowed' }, { kind: 'refused' }],
    ['too much', 200, { success: false, status: 429, secret: 'whsec_1a' }, { kind: 'refused' }],
    ['a success', 200, { success: true, secret: 'whsec_1a' }, { kind: 'registered', secret: 'whsec_1a' }],
  ])('that the envelope calls %s is what the envelope says', (_name, status, value, expected) => {
    const answers = { status: '/status', success: { at: '/success', is: ['true'] } };
    const profile = { error: { message: '/message' }, answers };

    expect(registered(says(value, status), profile)).toMatchObject(expected);
  });

  it('that a rule of the profile calls refused registers nothing', () => {
    const profile = { answers: { rules: [{ code: ['limit'], means: 'refused' }] } };

    expect(registered(says({ error: { code: 'limit' } }), profile)).toMatchObject({ kind: 'refused' });
  });

  it.each<UnreadableBody>(['cut-short', 'not-evaluated'])('that is %s leaves open what it held', (why) => {
    expect(registered(spoilt(why))).toMatchObject({ kind: 'lost', reason: { code: 'answer-unreadable' } });
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
    ['the service has its own trouble', says({}, 500), { kind: 'lost', reason: { code: 'http-500' } }],
    ['it is refused', says({ error: { code: 'no' } }, 422), { kind: 'refused', reason: { code: 'no' } }],
  ])('where %s', (_name, end, expected) => {
    expect(registered(end)).toMatchObject(expected);
  });
});
