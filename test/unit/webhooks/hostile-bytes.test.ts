import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerLines, type SignatureShape } from '../../../src/webhooks/signature-check.ts';
import { checked, SHAPE } from './signature/check-of.ts';
import { anyText } from '../../support/any-text.ts';

const bytes = fc.uint8Array({ maxLength: 300 });
const secret = anyText({ minLength: 1, maxLength: 40 });
const shape: fc.Arbitrary<SignatureShape> = fc.record({
  ...constants(SHAPE),
  algorithm: fc.constantFrom('sha1', 'sha256', 'sha384', 'sha512'),
  encoding: fc.constantFrom('hex', 'base64', 'base64url'),
  prefix: fc.constantFrom('', 'sha256=', 'v1,'),
});

function constants<T extends object>(value: T): { [Key in keyof T]: fc.Arbitrary<T[Key]> } {
  const entries = Object.entries(value).map(([key, one]) => [key, fc.constant(one)]);
  return Object.fromEntries(entries) as { [Key in keyof T]: fc.Arbitrary<T[Key]> };
}

function sign(raw: Uint8Array, key: string, { algorithm, encoding, prefix }: SignatureShape): string {
  return prefix + createHmac(algorithm, key).update(raw).digest(encoding);
}

describe('a signature', () => {
  it('holds for exactly the bytes, the secret and the shape that made it', () => {
    fc.assert(
      fc.property(bytes, secret, shape, fc.nat(), (raw, key, how, place) => {
        const lines = [sign(raw, key, how)];
        const other = Uint8Array.from(raw.length === 0 ? [0] : raw);
        if (raw.length > 0) other[place % raw.length] = (other[place % raw.length] ?? 0) ^ 1;

        expect(checked({ raw, lines, secrets: ['old', key], shape: how }).whole).toBeNull();
        expect(checked({ raw: other, lines, secrets: [key], shape: how }).whole).toBe('signature-wrong');
        expect(checked({ raw, lines, secrets: [`${key}x`], shape: how }).whole).not.toBeNull();
      }),
    );
  });

  it('never holds for a header that somebody made up, and never throws over one', () => {
    fc.assert(
      fc.property(
        bytes,
        secret,
        shape,
        fc.array(fc.string({ maxLength: 300 }), { maxLength: 3 }),
        (raw, key, how, lines) => {
          expect(checked({ raw, lines, secrets: [key], shape: how }).whole).not.toBeNull();
        },
      ),
    );
  });

  it('is refused before the body is read whenever no body could make it right', () => {
    fc.assert(
      fc.property(
        bytes,
        secret,
        shape,
        fc.array(fc.string({ maxLength: 200 }), { maxLength: 2 }),
        (raw, key, how, lines) => {
          const early = checked({ lines, secrets: [key], shape: how }).head;
          const late = checked({ raw, lines, secrets: [key], shape: how }).whole;

          if (early !== null) expect(late).toBe(early);
          expect(checked({ lines: [sign(raw, key, how)], secrets: [key], shape: how }).head).toBeNull();
        },
      ),
    );
  });
});

describe('headerLines', () => {
  it('gives each line of the header and no other, whatever stands in the values', () => {
    const line = fc.tuple(
      fc.constantFrom('X-Sig', 'x-sig', 'X-SIG', 'Other', 'Value'),
      fc.constantFrom('X-Sig', 'a', ''),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
        expect(headerLines(lines.flat(), 'x-Sig')).toEqual(
          lines.filter(([name]) => name.toLowerCase() === 'x-sig').map(([, value]) => value),
        );
      }),
    );
  });
});
