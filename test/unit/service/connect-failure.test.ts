import { describe, expect, it } from 'vitest';
import { brokenExchange, connectFailure } from '../../../src/service/connect-failure.ts';

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
