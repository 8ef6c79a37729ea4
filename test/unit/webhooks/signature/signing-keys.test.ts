import { describe, expect, it } from 'vitest';
import type { SignatureShape } from '../../../../src/webhooks/request-head.ts';
import { signingKeys } from '../../../../src/webhooks/signature-check.ts';

function keysOf(secret: SignatureShape['secret'], secrets: readonly string[]): readonly string[] {
  return signingKeys(secrets, { secret }).map((key) => Buffer.from(key).toString('hex'));
}

describe('signingKeys', () => {
  it.each([
    ['text', '', 'abc', '616263'],
    ['text', 'whsec_', 'whsec_abc', '616263'],
    ['text', 'whsec_', 'abc', '616263'],
    ['hex', '', 'FF00', 'ff00'],
    ['base64', 'whsec_', 'whsec_+/8=', 'fbff'],
    ['base64', '', '+/8', 'fbff'],
    ['base64url', '', '-_8', 'fbff'],
  ] as const)('reads %s after the prefix %j in %s', (encoding, prefix, secret, key) => {
    expect(keysOf({ encoding, prefix }, [secret])).toEqual([key]);
  });

  it.each([
    ['text', 'whsec_', 'whsec_'],
    ['hex', '', 'f'],
    ['hex', '', 'zz'],
    ['base64', '', 'a'],
    ['base64', '', '-_8='],
    ['base64', '', 'abcd='],
    ['base64url', '', '+/8'],
    ['base64', '', '===='],
  ] as const)('takes no secret of %s after the prefix %j from %s', (encoding, prefix, secret) => {
    expect(keysOf({ encoding, prefix }, [secret, ''])).toEqual([]);
  });

  it('leaves out what cannot be decoded, and uses the others', () => {
    expect(keysOf({ encoding: 'hex', prefix: '' }, ['very-secret', 'ff'])).toEqual(['ff']);
  });
});
