import { describe, expect, it } from 'vitest';
import type { SignatureShape } from '../../../../src/webhooks/signature/request-head.ts';
import { createSigningKeys } from '../../../../src/webhooks/signature/signing-keys.ts';

function keysOf(secret: SignatureShape['secret'], secrets: readonly string[]) {
  const logged: string[] = [];
  const read = createSigningKeys(
    { secret },
    { warn: (message, fields) => logged.push(message + JSON.stringify(fields)) },
  );
  return {
    keys: read(secrets).map((key) => Buffer.from(key).toString('hex')),
    again: () => read([...secrets]),
    logged,
  };
}

describe('createSigningKeys', () => {
  it.each([
    ['text', '', 'abc', '616263'],
    ['text', 'whsec_', 'whsec_abc', '616263'],
    ['text', 'whsec_', 'abc', '616263'],
    ['hex', '', 'FF00', 'ff00'],
    ['base64', 'whsec_', 'whsec_+/8=', 'fbff'],
    ['base64', '', '+/8', 'fbff'],
    ['base64url', '', '-_8', 'fbff'],
  ] as const)('reads %s after the prefix %j in %s', (encoding, prefix, secret, key) => {
    expect(keysOf({ encoding, prefix }, [secret]).keys).toEqual([key]);
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
    expect(keysOf({ encoding, prefix }, [secret, '']).keys).toEqual([]);
  });

  it('says once, without the secret, that one cannot be decoded, and uses the others', () => {
    const { keys, again, logged } = keysOf({ encoding: 'hex', prefix: '' }, ['very-secret', 'ff']);
    again();

    expect(keys).toEqual(['ff']);
    expect(logged).toHaveLength(1);
    expect(logged[0]).not.toContain('very-secret');
  });
});
