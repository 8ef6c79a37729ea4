import { describe, expect, it } from 'vitest';
import { signatureOf } from '../../../../src/sandbox/webhooks/signature.ts';

describe('signatureOf', () => {
  it('is the HMAC-SHA-256 of the UTF-8 bytes, in lower-case hex', () => {
    // RFC 4231, test case 2.
    expect(signatureOf('what do ya want for nothing?', 'Jefe')).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    );
    expect(signatureOf('Ção', 'segredo')).toMatch(/^[0-9a-f]{64}$/);
    expect(signatureOf('Ção', 'segredo')).not.toBe(signatureOf('Cao', 'segredo'));
  });
});
