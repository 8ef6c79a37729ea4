import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headerLines, signingKeys, timeOf, type SignatureShape } from '../../../../src/webhooks/signature-check.ts';
import { anyText } from '../../../support/any-text.ts';
import { checked, SHAPE } from './check-of.ts';

const RAW = Buffer.from('{"type":"invoice.issued","data":{"id":"inv_1"}}');
const SECRET = 'whsec_one';

function sign(shape: SignatureShape = SHAPE, secret = SECRET, raw: Uint8Array = RAW): string {
  return shape.prefix + createHmac(shape.algorithm, secret).update(raw).digest(shape.encoding);
}

function verify(lines: readonly string[], shape = SHAPE, secrets: readonly string[] = [SECRET]) {
  return checked({ raw: RAW, lines, secrets, shape });
}

describe('verify', () => {
  it('agrees with a value computed elsewhere', () => {
    // RFC 4231, test case 2.
    const lines = ['5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'];

    expect(checked({ raw: 'what do ya want for nothing?', lines, secrets: ['Jefe'] })).toBeNull();
  });

  it('accepts upper-case hex and white space around it', () => {
    expect(verify([`  ${sign().toUpperCase()}\t`])).toBeNull();
  });

  it.each(['signature=', 'signature="'])('accepts a signature in quotes, with %s before it', (prefix) => {
    const shape = { ...SHAPE, separator: ',' as const, prefix };

    expect(verify([`keyId="lote", signature="${sign()}"`], shape)).toBeNull();
    expect(verify([`keyId="${sign()}", signature="${sign(SHAPE, 'another')}"`], shape)).toBe('signature-wrong');
  });

  it('accepts whichever of several secrets signed', () => {
    const secrets = ['whsec_new', SECRET, 'whsec_old'];

    expect(secrets.map((secret) => verify([sign(SHAPE, secret)], SHAPE, secrets))).toEqual([null, null, null]);
    expect(verify([sign(SHAPE, 'whsec_foreign')], SHAPE, secrets)).toBe('signature-wrong');
  });

  it('covers bytes, not text: bytes that decode to the same text differ', () => {
    const lines = [sign(SHAPE, SECRET, Buffer.from([0xff]))];

    expect(checked({ raw: Buffer.from([0xfe]), lines, secrets: [SECRET] })).toBe('signature-wrong');
  });

  it.each([
    ['no header', [], 'signature-missing'],
    ['an empty one', [''], 'signature-missing'],
    ['white space', [' \t '], 'signature-missing'],
    ['two, both right', [sign(), sign()], 'signature-malformed'],
    ['two joined by a proxy', [`${sign()}, ${sign()}`], 'signature-malformed'],
    ['half of it', [sign().slice(0, 32)], 'signature-malformed'],
    ['one digit less', [sign().slice(1)], 'signature-malformed'],
    ['one byte more', [`${sign()}00`], 'signature-malformed'],
    ['a value followed by rubbish', [`${sign()}zz`], 'signature-malformed'],
    ['white space inside', [`${sign().slice(0, 10)} ${sign().slice(10)}`], 'signature-malformed'],
    ['a prefix nobody asked for', [`sha256=${sign()}`], 'signature-malformed'],
    ['base64 in place of hex', [sign({ ...SHAPE, encoding: 'base64' })], 'signature-malformed'],
    ['10 KB', ['a'.repeat(10_240)], 'signature-malformed'],
    ['10 KB of white space before the value', [`${' '.repeat(10_240)}x`], 'signature-malformed'],
    ['NUL', [`${sign().slice(0, 63)}\0`], 'signature-malformed'],
    ['full-width digits', ['０'.repeat(64)], 'signature-malformed'],
    ['all zeros', ['0'.repeat(64)], 'signature-wrong'],
  ])('refuses %s', (_name, lines, why) => {
    expect(verify(lines)).toBe(why);
  });

  it.each([
    ['the value without its prefix', sign()],
    ['the prefix alone', 'sha256='],
    ['the prefix in other letters', `SHA256=${sign()}`],
    ['the prefix twice', `sha256=sha256=${sign()}`],
  ])('with a prefix, refuses %s', (_name, header) => {
    expect(verify([header], { ...SHAPE, prefix: 'sha256=' })).toBe('signature-malformed');
  });

  it.each([[[]], [['']], [['', '']]])(
    'accepts nothing while the secrets are %j: an empty one signs for everybody',
    (secrets) => {
      expect(verify([sign(SHAPE, '')], SHAPE, secrets)).toBe('no-secret');
    },
  );

  it('skips an empty secret among real ones', () => {
    expect(verify([sign(SHAPE, '')], SHAPE, ['', SECRET])).toBe('signature-wrong');
  });
});

const AT = 1_700_000_000_000;

describe('timeOf', () => {
  it.each([
    ['seconds', '1700000000', AT],
    ['seconds with a fraction', '1700000000.5', AT + 500],
    ['milliseconds', '1700000000123', AT + 123],
    ['ISO 8601 in UTC', '2023-11-14T22:13:20Z', AT],
    ['ISO 8601 with a fraction', '2023-11-14T22:13:20.123Z', AT + 123],
    ['ISO 8601 with an offset', '2023-11-15T00:13:20+02:00', AT],
    ['ISO 8601 with an offset without colon', '2023-11-14T19:13:20-0300', AT],
    ['the form of HTTP', 'Tue, 14 Nov 2023 22:13:20 GMT', AT],
  ])('reads %s', (_name, text, time) => {
    expect(timeOf(text)).toBe(time);
  });

  it.each([
    '',
    'now',
    '-1',
    '1e9',
    '0x10',
    '17000000000000',
    '2023-11-14',
    '2023-11-14T22:13:20',
    '2023-13-40T99:99:99Z',
  ])('reads no time in %j', (text) => {
    expect(timeOf(text)).toBeNull();
  });
});

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

describe('a signature', () => {
  it('holds for exactly the bytes, the secret and the shape that made it', () => {
    fc.assert(
      fc.property(bytes, secret, shape, fc.nat(), (raw, key, how, place) => {
        const lines = [sign(how, key, raw)];
        const other = Uint8Array.from(raw.length === 0 ? [0] : raw);
        if (raw.length > 0) other[place % raw.length] = (other[place % raw.length] ?? 0) ^ 1;

        expect(checked({ raw, lines, secrets: ['old', key], shape: how })).toBeNull();
        expect(checked({ raw: other, lines, secrets: [key], shape: how })).toBe('signature-wrong');
        expect(checked({ raw, lines, secrets: [`${key}x`], shape: how })).not.toBeNull();
      }),
    );
  });

  it('never holds for a header that an attacker made up, and never throws over one', () => {
    fc.assert(
      fc.property(
        bytes,
        secret,
        shape,
        fc.array(fc.string({ maxLength: 300 }), { maxLength: 3 }),
        (raw, key, how, lines) => {
          expect(checked({ raw, lines, secrets: [key], shape: how })).not.toBeNull();
        },
      ),
    );
  });
});
