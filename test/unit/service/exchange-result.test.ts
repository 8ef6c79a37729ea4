import { describe, expect, it } from 'vitest';
import { brokenExchange, connectFailure } from '../../../src/service/exchange.ts';
import { outcomeOf, readBody, type ExchangeResult } from '../../../src/service/exchange-result.ts';

const KEY = 'sk_live_0123456789';

function read(text: string, secret = KEY) {
  return readBody(Buffer.from(text), secret);
}

describe('readBody', () => {
  it('hides the key wherever the answer quotes it, and changes nothing else', () => {
    const answer = { error: { message: `key ${KEY} and ${KEY}`, code: 'x' }, list: [KEY, 1.5, null, true] };

    expect(read(JSON.stringify(answer))).toEqual({
      kind: 'json',
      value: { error: { message: 'key [key] and [key]', code: 'x' }, list: ['[key]', 1.5, null, true] },
    });
  });

  it.each([
    ['a slash', 'sk_live_ab/cd0123', String.raw`sk_live_ab\/cd0123`],
    ['a plus', 'sk_live_ab+cd0123', String.raw`sk_live_ab\u002Bcd0123`],
    ['a quote', 'sk_live_ab"cd0123', String.raw`sk_live_ab\"cd0123`],
  ])('hides a key in which JSON writes %s as an escape', (_, key, written) => {
    expect(read(`{"message":"key ${written}"}`, key)).toEqual({ kind: 'json', value: { message: 'key [key]' } });
  });

  it.each([
    ['inv', 'inv_1', 'inv_1'],
    ['inv_123', 'inv_123', 'inv_123'],
    ['12345678', 'key 12345678', 'key [key]'],
  ])('hides no key that is so short that it may stand in every word: of %s, %s is shown as %s', (key, said, shown) => {
    expect(read(JSON.stringify({ said }), key)).toEqual({ kind: 'json', value: { said: shown } });
  });

  it.each(['null', '0', '""', '[]'])('reads %s: it is JSON, whatever it says', (text) => {
    expect(read(text)).toEqual({ kind: 'json', value: JSON.parse(text) as unknown });
  });

  it('keeps the beginning of a text that is no JSON, with the key hidden', () => {
    const answer = read(`The key ${KEY} may not do that. ${'x'.repeat(5_000)}`);

    expect(answer).toMatchObject({ why: 'not-json', text: expect.stringContaining('The key [key] may not') as string });
    expect(answer.kind === 'unreadable' ? answer.text?.length : 0).toBe(2_000);
  });

  it('takes bytes that are no UTF-8 for unreadable: an id read from them could be another', () => {
    const bytes = Buffer.concat([Buffer.from('{"id":"inv_'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);

    expect(readBody(bytes, KEY)).toEqual({ kind: 'unreadable', why: 'not-json' });
  });
});

describe('the outcome of a request, for those who count', () => {
  const answer = (status: number): ExchangeResult => ({
    ...{ kind: 'answer', status, retryAfterMs: null },
    body: { kind: 'unreadable', why: 'empty' },
  });

  it.each<[string, ExchangeResult, string]>([
    ['nothing was sent', { kind: 'not-sent', code: 'connection-refused', retryAfterMs: null }, 'not-sent'],
    ['it was not permitted', { kind: 'not-permitted' }, 'not-sent'],
    ['no answer came', { kind: 'broken', code: 'answer-timeout' }, 'no-answer'],
    ['200', answer(200), '2xx'],
    ['299', answer(299), '2xx'],
    ['300', answer(300), '3xx'],
    ['399', answer(399), '3xx'],
    ['400', answer(400), '4xx'],
    ['428', answer(428), '4xx'],
    ['429, which is counted apart', answer(429), '429'],
    ['499', answer(499), '4xx'],
    ['500', answer(500), '5xx'],
  ])('where %s', (_name, end, outcome) => {
    expect(outcomeOf(end)).toBe(outcome);
  });
});

function coded(code: string): Error {
  return Object.assign(new Error('x'), { code });
}

describe('connectFailure', () => {
  it.each([
    ['ECONNREFUSED', 'connection-refused'],
    ['ENOTFOUND', 'name-not-resolved'],
    ['EAI_AGAIN', 'name-not-resolved'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect-timeout'],
    ['ETIMEDOUT', 'connect-timeout'],
    ['EHOSTUNREACH', 'host-unreachable'],
    ['ENETUNREACH', 'host-unreachable'],
    ['ECONNRESET', 'connection-reset-early'],
    ['EPIPE', 'connection-reset-early'],
    ['UND_ERR_SOCKET', 'connection-reset-early'],
    ['EPROTO', 'tls-refused'],
    ['EPROTONOSUPPORT', 'request-not-sent'],
    ['NO_CERT_HERE', 'request-not-sent'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls-refused'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls-refused'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls-refused'],
    ['CERT_HAS_EXPIRED', 'tls-refused'],
    ['EWHATEVER', 'request-not-sent'],
  ])('names %s', (code, expected) => {
    expect(connectFailure(coded(code))).toBe(expected);
  });

  it('looks into the cause', () => {
    expect(connectFailure(new Error('x', { cause: coded('ECONNREFUSED') }))).toBe('connection-refused');
  });

  it.each([undefined, null, 'text', {}])('names even %j', (error) => {
    expect(connectFailure(error)).toBe('request-not-sent');
  });
});

describe('brokenExchange', () => {
  it.each([
    ['ECONNRESET', 'connection-reset'],
    ['EPIPE', 'connection-reset'],
    ['UND_ERR_SOCKET', 'connection-reset'],
    ['UND_ERR_HEADERS_TIMEOUT', 'answer-timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'answer-timeout'],
    ['HPE_INVALID_CONSTANT', 'answer-broken'],
  ])('names %s', (code, expected) => {
    expect(brokenExchange(coded(code))).toBe(expected);
  });
});
